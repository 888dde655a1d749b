#include "spec/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/csv.h"
#include "spec/sweep_text.h"

namespace berth {
namespace {

constexpr std::string_view kFolderColumn = "JOB_DIR";

/// `text` begins right after a key: what it has, if it is a value.
std::optional<std::string_view> value_after(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const auto skip = [&text](std::string_view what) {
    text.remove_prefix(std::min(text.find_first_not_of(what), text.size()));
  };
  const std::size_t before = text.size();
  if (text.starts_with('"') || text.starts_with('\'')) {
    text.remove_prefix(1);
  }
  skip(kBlanks);
  if (text.starts_with(':') || text.starts_with('=')) {
    text.remove_prefix(1);
  }
  if (text.size() == before && !text.empty()) {
    return std::nullopt;  // the key is only the beginning of a word
  }
  skip(" \t\"'");
  const std::string_view value = text.substr(0, text.find_first_of(" \t\r\n,;\"')]}"));
  return value.empty() ? std::nullopt : std::optional(value);
}

}  // namespace

Result<GridPoints> parse_grid(std::string_view csv) {
  CsvReader reader(csv);
  GridPoints grid;
  const std::optional<CsvRecord> header = reader.next();
  if (header) {
    grid.columns = header->fields;
  }
  const auto folder = std::find(grid.columns.begin(), grid.columns.end(), kFolderColumn);
  if (folder == grid.columns.end()) {
    return fail(ErrorCode::Usage, fmt::format("the header has no column {}, which says where the "
                                              "log of each job is",
                                              kFolderColumn));
  }
  grid.folder = static_cast<std::size_t>(folder - grid.columns.begin());
  while (std::optional<CsvRecord> record = reader.next()) {
    if (record->fields.size() != grid.columns.size()) {
      return fail(ErrorCode::Usage, fmt::format("line {} has {} columns, not {}", record->line,
                                                record->fields.size(), grid.columns.size()));
    }
    grid.rows.push_back(std::move(record->fields));
  }
  if (!reader.problems().empty()) {
    const LineError& problem = reader.problems().front();
    return fail(ErrorCode::Usage, fmt::format("line {} {}", problem.line, problem.message));
  }
  return grid;
}

std::optional<std::string> last_value(std::string_view log, std::string_view key) {
  if (key.empty()) {
    return std::nullopt;
  }
  for (std::size_t at = log.rfind(key); at != log.npos; at = log.rfind(key, at - 1)) {
    const bool begins_word = at == 0 || !is_word_char(log[at - 1]);
    if (begins_word) {
      if (const auto value = value_after(log.substr(at + key.size()))) {
        return std::string(*value);
      }
    }
    if (at == 0) {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace berth
