#include "batch/csv.h"

#include <algorithm>
#include <optional>

namespace berth {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    at_ = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  }

  Csv parse() {
    while (at_ < text_.size()) {
      take_record();
    }
    return std::move(csv_);
  }

 private:
  bool at_end_of_line() const {
    return at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r';
  }

  void skip_line_end() {
    if (at_ < text_.size() && text_[at_] == '\r') {
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
    }
    ++line_;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) {
      ++at_;
    }
  }

  void take_record() {
    CsvRecord record{line_, {}};
    bool quoted = false;
    bool good = true;
    for (bool more = true; more;) {
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '"') {
        quoted = true;
        std::optional<std::string> field = take_quoted();
        good = good && field;
        record.fields.push_back(field.value_or(""));
      } else {
        record.fields.push_back(take_plain());
      }
      more = at_ < text_.size() && text_[at_] == ',';
      at_ += more ? 1 : 0;
    }
    skip_line_end();
    const bool empty = !quoted && std::all_of(record.fields.begin(), record.fields.end(),
                                              [](const std::string& f) { return f.empty(); });
    if (good && !empty) {
      csv_.records.push_back(std::move(record));
    }
  }

  std::string take_plain() {
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
  std::optional<std::string> take_quoted() {
    const std::size_t opened = line_;
    std::string field;
    for (++at_;; ++at_) {
      if (at_ == text_.size()) {
        csv_.problems.push_back({opened, "opens a quote that nothing closes"});
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
    csv_.problems.push_back({line_, "has text after a closing quote"});
    (void)take_plain();
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  Csv csv_;
};

}  // namespace

Csv parse_csv(std::string_view text) { return Parser(text).parse(); }

}  // namespace berth
