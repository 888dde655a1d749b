// CSV as RFC 4180 has it and spreadsheets write it: quoted fields, any line ends, a byte order
// mark, blanks around fields, lines without content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/job_line.h"

namespace berth {

struct CsvRecord {
  std::size_t line = 0;  // where it starts, from 1
  std::vector<std::string> fields;
};

struct Csv {
  std::vector<CsvRecord> records;   // without those that have nothing in them
  std::vector<LineError> problems;  // with the quotes; such records are left out
};

Csv parse_csv(std::string_view text);

}  // namespace berth
