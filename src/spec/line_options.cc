#include "spec/line_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/text.h"
#include "base/units.h"

namespace berth {
namespace {

/// A whole number within [least, most].
template <class T>
Result<void> set_number(std::optional<T>& out, std::string_view key, std::string_view value,
                        std::int64_t least, std::int64_t most) {
  const Result<std::int64_t> number = parse_integer(value, key);
  if (!number) {
    return Failure(number.error());
  }
  if (*number < least || *number > most) {
    return fail(ErrorCode::Usage,
                fmt::format("{} must be from {} to {}, not {}", key, least, most, *number));
  }
  out = static_cast<T>(*number);
  return {};
}

/// `on`, `off`, or `on` with a percentage of the threads.
Result<void> set_mps(LineOptions& options, std::string_view value) {
  options.mps = value != "off";
  if (value == "on" || value == "off") {
    return {};
  }
  if (!set_number(options.thread_percentage, "mps", value, 1, 100)) {
    return fail(ErrorCode::Usage,
                fmt::format("mps is on, off, or a percentage from 1 to 100, not '{}'", value));
  }
  return {};
}

Result<void> set_share(LineOptions& options, std::string_view value) {
  std::optional<std::uint32_t> percent;
  const Result<void> done = set_number(percent, "share", value, 1, 100);
  if (done) {
    options.share = *percent * (kWholeShare / 100);
  }
  return done;
}

Result<void> set_claim(LineOptions& options, std::string_view value) {
  const Result<Claim> claim = parse_claim(value);
  if (!claim) {
    return Failure(claim.error());
  }
  options.claim = *claim;
  return {};
}

/// 0 stands for none.
Result<void> set_time(std::optional<Duration>& out, std::string_view value) {
  const Result<Duration> time = parse_duration(value);
  if (!time) {
    return Failure(time.error());
  }
  out = *time == Duration{} ? kForever : *time;
  return {};
}

Result<void> set_after(LineOptions& options, std::string_view value) {
  Result<std::vector<AfterName>> after = parse_after(value);
  if (!after) {
    return Failure(after.error());
  }
  std::move(after->begin(), after->end(), std::back_inserter(options.after));
  return {};
}

/// The length of "key" when `word` begins with "@key=", else 0: `@reboot` is the start of a
/// command.
std::size_t key_length(std::string_view word) {
  if (word.empty() || word[0] != '@') {
    return 0;
  }
  std::size_t n = 1;
  while (n < word.size() && ((word[n] >= 'a' && word[n] <= 'z') || word[n] == '_')) {
    ++n;
  }
  return n > 1 && n < word.size() && word[n] == '=' ? n - 1 : 0;
}

void skip_blanks(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
}

}  // namespace

Result<std::vector<AfterName>> parse_after(std::string_view text) {
  std::vector<AfterName> after;
  for (bool more = true; more;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
    AfterName follow;
    for (const auto& [word, when] :
         {std::pair{"ok:", Dependency::When::Ok}, std::pair{"any:", Dependency::When::Any},
          std::pair{"notok:", Dependency::When::NotOk}}) {
      if (item.starts_with(word)) {
        follow.when = when;
        item.remove_prefix(std::strlen(word));
        break;
      }
    }
    if (item.empty()) {
      return fail(ErrorCode::Usage, "after needs a job: @after=ok:NAME,any:3");
    }
    follow.job = item;
    after.push_back(std::move(follow));
  }
  return after;
}

Result<void> LineOptions::set(std::string_view key, std::string_view value) {
  if (key == "name") {
    name = value;
    return {};
  }
  if (key == "project") {
    project = value;
    return {};
  }
  if (key == "gpus") {
    return set_number(gpus, key, value, 0, kMostGpus);
  }
  if (key == "mem") {
    return set_claim(*this, value);
  }
  if (key == "share") {
    return set_share(*this, value);
  }
  if (key == "mps") {
    return set_mps(*this, value);
  }
  if (key == "priority") {
    return set_number(priority, key, value, -kMostPriority, kMostPriority);
  }
  if (key == "weight") {
    return set_number(weight, key, value, 1, kMostWeight);
  }
  if (key == "timeout") {
    return set_time(timeout, value);
  }
  if (key == "expected") {
    return set_time(expected, value);
  }
  if (key == "retries") {
    return set_number(retries, key, value, 0, kMostRetries);
  }
  if (key == "after") {
    return set_after(*this, value);
  }
  return fail(ErrorCode::Usage,
              fmt::format("unknown option @{}: the options are name, project, gpus, mem, share, "
                          "mps, priority, weight, timeout, expected, retries and after",
                          key));
}

void LineOptions::apply(JobSpec& spec) const {
  Needs& needs = spec.needs;
  needs.gpus = gpus.value_or(needs.gpus);
  if (claim) {
    needs.set(*claim);
  }
  needs.share = share.value_or(needs.share);
  if (mps) {
    needs.mps = *mps ? mps_of(::geteuid()) : 0;
    needs.thread_percentage = thread_percentage.value_or(needs.thread_percentage);
  }
  spec.priority = priority.value_or(spec.priority);
  spec.weight = weight.value_or(spec.weight);
  spec.limit = timeout.value_or(spec.limit);
  spec.expected = expected.value_or(spec.expected);
  spec.retry.most = retries.value_or(spec.retry.most);
}

Result<LineOptions> take_options(std::string_view& line) {
  LineOptions options;
  skip_blanks(line);
  while (const std::size_t length = key_length(line)) {
    const std::size_t end = std::min(line.find_first_of(" \t\n"), line.size());
    const std::string_view key = line.substr(1, length);
    const std::string_view value = line.substr(length + 2, end - length - 2);
    if (value.empty()) {
      return fail(ErrorCode::Usage, fmt::format("@{}= needs a value", key));
    }
    if (const Result<void> done = options.set(key, value); !done) {
      return Failure(done.error());
    }
    line.remove_prefix(end);
    skip_blanks(line);
  }
  return options;
}

Result<std::size_t> EarlierJobs::find(const AfterName& after) const {
  if (const auto named = places_.find(after.job); named != places_.end()) {
    return named->second;
  }
  const Result<std::int64_t> number = parse_integer(after.job, "after");
  if (!number || *number < 1 || static_cast<std::size_t>(*number) > count_) {
    return fail(ErrorCode::Usage, fmt::format("there is no earlier job '{}' to follow", after.job));
  }
  return static_cast<std::size_t>(*number) - 1;
}

void EarlierJobs::add(const std::optional<std::string>& name) {
  if (name) {
    places_[*name] = count_;
  }
  ++count_;
}

}  // namespace berth
