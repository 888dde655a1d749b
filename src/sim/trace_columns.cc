#include "sim/trace_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "core/job_spec.h"

namespace berth {
namespace {

/// The names of a column in the traces that are about, best first.
struct Aliases {
  std::string_view text;  // separated by blanks
};
constexpr std::array<Aliases, 12> kAliases = {
    Aliases{"job_id jobid name job_name id"},
    {"user user_id vc virtual_cluster"},
    {"submit_s submit_time submitted_time submit timestamp creation_time arrival_time"},
    {"start_s start_time scheduled_time"},
    {"end_s end_time deletion_time finish_time"},
    {"duration_s duration run_time runtime"},
    {"expected_s requested_time time_limit estimate"},
    {"gpus num_gpus gpu_num num_gpu gpu_count"},
    {"gpu_mem_mib memory_mib"},
    {"gpu_milli"},
    {"priority"},
    {"weight"},
};

/// Takes a cell and the comma behind it. A cell in quotes may hold commas.
std::string_view take_cell(std::string_view& line) {
  std::size_t end = line.find(',');
  const std::size_t first = line.find_first_not_of(" \t");
  if (first != std::string_view::npos && line[first] == '"') {
    const std::size_t close = line.find('"', first + 1);
    if (close != std::string_view::npos) {
      const std::string_view cell = line.substr(first + 1, close - first - 1);
      end = line.find(',', close);
      line = end == std::string_view::npos ? std::string_view{} : line.substr(end + 1);
      return trim(cell);
    }
  }
  const std::string_view cell = trim(line.substr(0, end));
  line = end == std::string_view::npos ? std::string_view{} : line.substr(end + 1);
  return cell;
}

std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(" \t", end), line.size()));
  return word;
}

/// An empty cell at the end of a line may be left away: there is none, and it is empty.
void split(std::string_view line, bool blanks, std::vector<std::string_view>& cells) {
  cells.clear();
  line = blanks ? trim(line) : line;
  while (!line.empty()) {
    cells.push_back(blanks ? take_word(line) : take_cell(line));
  }
}

template <class Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc{} && end == text.data() + text.size();
}

/// `2017-10-03 14:05:09`, in seconds since 1970; time zones are the trace's own affair.
bool parse_date(std::string_view text, double& seconds) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' ||
      !parse_number(text.substr(0, 4), year) || !parse_number(text.substr(5, 2), month) ||
      !parse_number(text.substr(8, 2), day) || !parse_number(text.substr(11, 2), hour) ||
      !parse_number(text.substr(14, 2), minute) || !parse_number(text.substr(17, 2), second)) {
    return false;
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  seconds = date.ok() ? static_cast<double>(sys_days(date).time_since_epoch().count()) * 86400 +
                            hour * 3600 + minute * 60 + second
                      : 0;
  return date.ok();
}

}  // namespace

Result<TraceColumns> TraceColumns::from_header(std::string_view line) {
  TraceColumns columns;
  columns.at_.fill(-1);
  std::vector<std::string_view> names;
  split(line, false, names);
  for (const std::string_view name : names) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    columns.names_.push_back(std::move(lower));
  }
  for (std::size_t field = 0; field < kFields; ++field) {
    std::vector<std::string_view> aliases;
    split(kAliases[field].text, true, aliases);
    for (const std::string_view alias : aliases) {
      const auto found = std::find(columns.names_.begin(), columns.names_.end(), alias);
      if (found != columns.names_.end()) {
        columns.at_[field] = static_cast<int>(found - columns.names_.begin());
        break;
      }
    }
  }
  const bool has_length = columns.at_[Length] >= 0 || columns.at_[End] >= 0;
  if (columns.at_[Submit] < 0 || !has_length || columns.at_[Gpus] < 0) {
    const Field missing = columns.at_[Submit] < 0 ? Submit : !has_length ? Length : Gpus;
    std::vector<std::string_view> aliases;
    split(kAliases[missing].text, true, aliases);
    return fail(ErrorCode::Usage, fmt::format("the header has no column {} (or {})", aliases[0],
                                              fmt::join(aliases.begin() + 1, aliases.end(), ", ")));
  }
  return columns;
}

TraceColumns TraceColumns::standard_workload() {
  TraceColumns columns;
  columns.blanks_ = true;
  columns.at_.fill(-1);
  columns.at_[Name] = 0;
  columns.at_[Submit] = 1;
  columns.at_[Length] = 3;
  columns.at_[Gpus] = 7;
  columns.gpus_used_ = 4;
  columns.at_[Expected] = 8;
  columns.at_[User] = 11;
  columns.names_ = {"1 (job)",
                    "2 (submit time)",
                    "3 (wait time)",
                    "4 (run time)",
                    "5 (processors)",
                    "6",
                    "7",
                    "8 (requested processors)",
                    "9 (requested time)",
                    "10",
                    "11 (status)",
                    "12 (user)"};
  return columns;
}

std::string_view TraceColumns::name_of_gpus() const {
  return names_[static_cast<std::size_t>(at_[Gpus])];
}

std::string_view TraceColumns::cell(const std::vector<std::string_view>& cells, Field field) const {
  const int at = at_[field];
  return at < 0 || static_cast<std::size_t>(at) >= cells.size()
             ? std::string_view{}
             : cells[static_cast<std::size_t>(at)];
}

Failure TraceColumns::wrong(Field field, std::string_view text, std::string_view why) const {
  return fail(ErrorCode::Usage,
              fmt::format("column {}: {}{}{}", names_[static_cast<std::size_t>(at_[field])],
                          text.empty() ? "" : fmt::format("'{}' ", text), why, ""));
}

Result<Duration> TraceColumns::time(const std::vector<std::string_view>& cells, Field field) const {
  constexpr double kMost = 9e9;  // seconds, which is as far as nanoseconds go
  const std::string_view text = cell(cells, field);
  double seconds = 0;
  std::int64_t whole = 0;
  if (parse_number(text, whole) && whole >= 0 && static_cast<double>(whole) < kMost) {
    return std::chrono::seconds(whole);
  }
  if (!parse_number(text, seconds) && !parse_date(text, seconds)) {
    return wrong(field, text, text.empty() ? "is missing" : "is not a time");
  }
  if (std::isnan(seconds) || seconds < 0) {
    return wrong(field, text, "is negative");
  }
  if (seconds >= kMost) {
    return wrong(field, text, "is too far away");
  }
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

Result<std::uint32_t> TraceColumns::count(const std::vector<std::string_view>& cells, Field field,
                                          std::uint32_t absent) const {
  const std::string_view text = cell(cells, field);
  if (text.empty() || (blanks_ && text == "-1")) {
    return absent;
  }
  double number = 0;  // some traces write 1.0
  if (!parse_number(text, number) || number != std::floor(number)) {
    return wrong(field, text, "is not a whole number");
  }
  if (number < 0 || number > UINT32_MAX) {
    return wrong(field, text, number < 0 ? "is negative" : "is too large");
  }
  return static_cast<std::uint32_t>(number);
}

Result<Duration> TraceColumns::length(const std::vector<std::string_view>& cells) const {
  if (at_[Length] >= 0) {
    return time(cells, Length);
  }
  const Result<Duration> end = time(cells, End);
  const Result<Duration> start = time(cells, at_[Start] >= 0 ? Start : Submit);
  if (!end || !start) {
    return Failure(end ? start.error() : end.error());
  }
  if (*end < *start) {
    return wrong(End, cell(cells, End), "is before the start");
  }
  return *end - *start;
}

Result<TraceRow> TraceColumns::parse(std::string_view line) const {
  std::vector<std::string_view> cells;
  cells.reserve(names_.size());
  split(line, blanks_, cells);
  TraceRow row;
  row.name = cell(cells, Name);
  row.user = cell(cells, User);
  const Result<Duration> submit = time(cells, Submit);
  if (!submit) {
    return Failure(submit.error());
  }
  const Result<Duration> took = length(cells);
  if (!took) {
    return Failure(took.error());
  }
  row.job.submit = Time(*submit);
  row.job.duration = *took;
  row.job.expected = *took;
  if (const std::string_view text = cell(cells, Expected); !text.empty() && text != "-1") {
    const Result<Duration> expected = time(cells, Expected);
    if (!expected) {
      return Failure(expected.error());
    }
    row.job.expected = *expected;
    row.job.stated = true;
  }
  Result<std::uint32_t> gpus = count(cells, Gpus, 0);
  if (gpus && *gpus == 0 && gpus_used_ >= 0) {
    TraceColumns used = *this;
    used.at_[Gpus] = gpus_used_;
    used.gpus_used_ = -1;
    gpus = used.count(cells, Gpus, 0);
  }
  const Result<std::uint32_t> memory = count(cells, Memory, 0);
  const Result<std::uint32_t> milli = count(cells, Milli, 0);
  const Result<std::uint32_t> weight = count(cells, Weight, 1);
  for (const Result<std::uint32_t>* number : {&std::as_const(gpus), &memory, &milli, &weight}) {
    if (!*number) {
      return Failure(number->error());
    }
  }
  if (*gpus == 0) {
    return wrong(Gpus, cell(cells, Gpus), "asks for no GPU");
  }
  if (*weight == 0 || *weight > kMostWeight) {
    return wrong(Weight, cell(cells, Weight), fmt::format("is not from 1 to {}", kMostWeight));
  }
  row.job.gpus = *gpus;
  row.job.weight = static_cast<std::uint16_t>(*weight);
  row.job.memory_mib = *memory;
  row.job.share = *milli >= kWholeShare ? 0 : *milli;
  if (const std::string_view text = cell(cells, Priority); !text.empty()) {
    int priority = 0;
    if (!parse_number(text, priority) || std::abs(priority) > 1000) {
      return wrong(Priority, text, "is not a small whole number");
    }
    row.job.priority = -priority;  // in traces the larger is the more urgent
  }
  return row;
}

}  // namespace berth
