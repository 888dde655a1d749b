#include "spec/csv.h"

#include <algorithm>

namespace berth {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

CsvReader::CsvReader(std::string_view text) : text_(text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  at_ = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

std::optional<CsvRecord> CsvReader::next() {
  while (at_ < text_.size() && problems_.size() < kMostProblems) {
    if (std::optional<CsvRecord> record = take_record()) {
      return record;
    }
  }
  return std::nullopt;
}

bool CsvReader::at_end_of_line() const {
  return at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r';
}

void CsvReader::skip_line_end() {
  if (at_ < text_.size() && text_[at_] == '\r') {
    ++at_;
  }
  if (at_ < text_.size() && text_[at_] == '\n') {
    ++at_;
  }
  ++line_;
}

void CsvReader::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) {
    ++at_;
  }
}

std::optional<CsvRecord> CsvReader::take_record() {
  CsvRecord record{line_, {}};
  bool quoted = false;
  bool good = true;
  bool more = true;
  while (more) {
    skip_blanks();
    std::string field;
    if (at_ < text_.size() && text_[at_] == '"') {
      quoted = true;
      std::optional<std::string> inside = take_quoted();
      good = good && inside;
      field = std::move(inside).value_or("");
    } else {
      field = take_plain();
    }
    if (record.fields.size() < kMostFields) {
      record.fields.push_back(std::move(field));
    } else if (good) {
      problems_.push_back({record.line, "has too many columns"});
      good = false;
    }
    more = at_ < text_.size() && text_[at_] == ',';
    at_ += more ? 1 : 0;
  }
  skip_line_end();
  const bool empty = !quoted && std::all_of(record.fields.begin(), record.fields.end(),
                                            [](const std::string& f) { return f.empty(); });
  return good && !empty ? std::optional(std::move(record)) : std::nullopt;
}

std::string CsvReader::take_plain() {
  const std::size_t begin = at_;
  while (!at_end_of_line() && text_[at_] != ',') {
    ++at_;
  }
  std::size_t end = at_;
  while (end > begin && is_blank(text_[end - 1])) {
    --end;
  }
  return std::string(text_.substr(begin, end - begin));
}

/// Nothing when it is not closed, or more text follows; that is noted.
std::optional<std::string> CsvReader::take_quoted() {
  const std::size_t opened = line_;
  std::string field;
  for (++at_;; ++at_) {
    if (at_ == text_.size()) {
      problems_.push_back({opened, "opens a quote that nothing closes"});
      return std::nullopt;
    }
    if (text_[at_] == '"') {
      if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
        break;
      }
      ++at_;  // two of them are one that is meant
    }
    line_ += text_[at_] == '\n' ? 1 : 0;
    field += text_[at_];
  }
  ++at_;
  skip_blanks();
  if (at_end_of_line() || text_[at_] == ',') {
    return field;
  }
  problems_.push_back({line_, "has text after a closing quote"});
  (void)take_plain();
  return std::nullopt;
}

Csv parse_csv(std::string_view text) {
  CsvReader reader(text);
  Csv csv;
  while (std::optional<CsvRecord> record = reader.next()) {
    csv.records.push_back(std::move(*record));
  }
  csv.problems = std::move(reader.problems());
  return csv;
}

std::string csv_field(std::string_view text) {
  const bool blanks = !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
  if (!blanks && text.find_first_of(",\"\r\n") == text.npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

}  // namespace berth
