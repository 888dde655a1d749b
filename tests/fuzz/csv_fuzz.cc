// Batch files and their journals: any text is read or refused, and nothing else happens.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "spec/csv.h"
#include "batch/journal.h"

using namespace berth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t line = 0;
  for (const CsvRecord& record : parse_csv(text).records) {
    BERTH_CHECK(record.line > line && !record.fields.empty());
    line = record.line;
  }
  BatchProgress progress;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    (void)progress.take(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  for (const auto& [row, record] : progress.rows) {
    BERTH_CHECK(row < progress.taken());
  }
  return 0;
}
