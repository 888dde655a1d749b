// CSV as RFC 4180 defines it and spreadsheets write it: quoted fields, any line ends, a byte order
// mark, blanks around fields, lines without content.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/job_line.h"

namespace berth {

struct CsvRecord {
  std::size_t line = 0;  // where it starts, from 1
  std::vector<std::string> fields;
};

/// Cuts a text into records, one at a time: all records of a text of two-byte lines would take
/// fifty times its size in memory. Borrows the text.
class CsvReader {
 public:
  /// Further problems are not reported, and nothing is read after them.
  static constexpr std::size_t kMostProblems = 1000;
  static constexpr std::size_t kMostFields = 1000;  // of a record

  explicit CsvReader(std::string_view text);

  /// The next record that is not empty.
  std::optional<CsvRecord> next();
  /// The problems found so far; records with problems are omitted.
  std::vector<LineError>& problems() { return problems_; }

 private:
  bool at_end_of_line() const;
  void skip_line_end();
  void skip_blanks();
  std::optional<CsvRecord> take_record();
  std::string take_plain();
  std::optional<std::string> take_quoted();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<LineError> problems_;
};

struct Csv {
  std::vector<CsvRecord> records;
  std::vector<LineError> problems;
};

Csv parse_csv(std::string_view text);

/// The field as it is to be written.
std::string csv_field(std::string_view text);

}  // namespace berth
