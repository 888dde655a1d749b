#include "spec/peasy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "spec/shell_words.h"
#include "spec/sweep_text.h"

namespace berth {
namespace {

constexpr std::string_view kPart = ";;";
constexpr std::string_view kEnd = ";;;";
constexpr std::size_t kLookEvery = 1000;

class PeasyParser {
 public:
  PeasyParser(std::string_view text, const PeasyLimits& limits) : text_(text), limits_(limits) {}

  PeasyText parse() {
    for (std::size_t taken = 1;; ++taken) {
      if (result_.jobs.size() >= limits_.jobs || result_.problems.size() >= limits_.problems ||
          (taken % kLookEvery == 0 && limits_.patience.over())) {
        return std::move(result_);
      }
      at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
      if (at_ == text_.size()) {
        return std::move(result_);
      }
      std::size_t end = text_.find(kEnd, at_);
      if (end == text_.npos) {
        complain(at_, "begins a job that is not closed: ;;; must follow its command");
        return std::move(result_);
      }
      // Of more than three the last are the end: the command may have one of its own.
      end = std::min(text_.find_first_not_of(';', end), text_.size()) - kEnd.size();
      take_job(text_.substr(at_, end - at_));
      at_ = end + kEnd.size();
    }
  }

 private:
  void take_job(std::string_view record) {
    const std::size_t name_end = record.find(kPart);
    const std::size_t output_end =
        name_end == record.npos ? name_end : record.find(kPart, name_end + kPart.size());
    if (output_end == record.npos) {
      return complain(at_, "begins a job that is not NAME;;OUTFILE;;COMMAND;;;");
    }
    const std::size_t output_begin = name_end + kPart.size();
    const std::size_t command_begin = output_end + kPart.size();
    PeasyJob job;
    job.name = trim(record.substr(0, name_end));
    job.output = trim(record.substr(output_begin, output_end - output_begin));
    job.command = join_lines(record.substr(command_begin));
    const std::size_t before = result_.problems.size();
    for (const auto& [what, part, where] : {std::tuple{"name", &job.name, std::size_t{0}},
                                            {"output file", &job.output, output_begin}}) {
      if (part->find('\n') != part->npos) {
        complain(at_ + where,
                 fmt::format("has a line break in the {} of a job: is the ;;; of the one before "
                             "missing?",
                             what));
      }
    }
    if (const std::size_t fourth = record.find(kPart, command_begin); fourth != record.npos) {
      complain(at_ + fourth,
               "has a fourth part of a job: is the ;;; of the one before missing? (;; cannot be "
               "part of a command)");
    }
    if (job.command.empty()) {
      complain(at_ + command_begin, "has a job without a command");
    } else if (job.command.size() > kLongestCommand) {
      complain(
          at_ + command_begin,
          fmt::format("has a command longer than {} bytes: put it into a script", kLongestCommand));
    }
    if (const std::size_t bad = std::min(find_invalid_utf8(record), record.find('\0'));
        bad != record.npos) {
      complain(at_ + bad, record[bad] == '\0' ? "holds a NUL byte" : "is not UTF-8 here");
    }
    if (result_.problems.size() == before) {
      move_to(at_);
      job.line = line_;
      result_.jobs.push_back(std::move(job));
    }
  }

  void complain(std::size_t where, std::string message) {
    move_to(std::min(text_.find_first_not_of(kBlanks, where), text_.size()));
    result_.problems.push_back(
        {line_, std::move(message), column_of(text_.substr(line_begin_), counted_ - line_begin_)});
  }

  /// Counts lines up to `where`, or from the start where that lies behind.
  void move_to(std::size_t where) {
    if (where < line_begin_) {
      counted_ = line_begin_ = 0;
      line_ = 1;
    }
    // Not beyond: the whole text may be one line, with a million jobs in it.
    const std::string_view before = text_.substr(0, where);
    for (std::size_t end = before.find('\n', counted_); end != before.npos;
         end = before.find('\n', end + 1)) {
      ++line_;
      line_begin_ = end + 1;
    }
    counted_ = where;
  }

  std::string_view text_;
  const PeasyLimits& limits_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;     // lines are counted up to here
  std::size_t line_ = 1;        // the one that this is in
  std::size_t line_begin_ = 0;  // and where it begins
  PeasyText result_;
};

}  // namespace

PeasyText parse_peasy(std::string_view text, const PeasyLimits& limits) {
  return PeasyParser(text, limits).parse();
}

}  // namespace berth
