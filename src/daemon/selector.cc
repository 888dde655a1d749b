#include "daemon/selector.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/units.h"

namespace berth {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

Result<std::uint64_t> parse_id(std::string_view text) {
  const Result<std::int64_t> number = parse_integer(text, "a job number");
  if (!number) {
    return Failure(number.error());
  }
  if (*number < 1) {
    return fail(ErrorCode::Usage, fmt::format("job numbers start at 1, not {}", *number));
  }
  return static_cast<std::uint64_t>(*number);
}

/// Calls `take` with each of "a,b,c", until one is refused.
template <class Take>
Result<void> for_each_part(std::string_view list, Take take) {
  Result<void> taken;
  for (std::size_t begin = 0; taken && begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    taken = take(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return taken;
}

/// "12" or "3-7"; false when it is neither.
Result<bool> take_numbers(std::string_view word, std::vector<IdRange>& ids) {
  const std::size_t dash = word.find('-');
  if (!is_number(word.substr(0, dash)) ||
      (dash != word.npos && !is_number(word.substr(dash + 1)))) {
    return false;
  }
  const Result<std::uint64_t> first = parse_id(word.substr(0, dash));
  const Result<std::uint64_t> last = dash == word.npos ? first : parse_id(word.substr(dash + 1));
  if (!first || !last) {
    return Failure(first ? last.error() : first.error());
  }
  if (*last < *first) {
    return fail(ErrorCode::Usage, fmt::format("'{}' is a range from back to front", word));
  }
  ids.push_back({JobId{*first}, JobId{*last}});
  return true;
}

Result<void> take_user(std::string_view value, JobFilter& filter) {
  if (is_number(value)) {
    const Result<std::int64_t> uid = parse_integer(value, "a user");
    if (!uid) {
      return Failure(uid.error());
    }
    if (*uid >= std::numeric_limits<uid_t>::max()) {
      return fail(ErrorCode::Usage, fmt::format("there is no user {}", value));
    }
    filter.user = static_cast<uid_t>(*uid);
    return {};
  }
  const passwd* entry = ::getpwnam(std::string(value).c_str());
  if (entry == nullptr) {
    return fail(ErrorCode::Usage, fmt::format("there is no user '{}'", value));
  }
  filter.user = entry->pw_uid;
  return {};
}

/// One that can be given once only.
template <class Field>
Result<void> set_once(Field& field, std::string_view value, std::string_view kind) {
  if (field != Field{}) {
    return fail(ErrorCode::Usage, fmt::format("only one {} can be chosen at a time", kind));
  }
  field = std::string(value);
  return {};
}

/// "12,14,20-29"; false when it is something else.
Result<bool> take_number_list(std::string_view word, JobFilter& filter) {
  if (word.find_first_not_of("0123456789-,") != word.npos) {
    return false;
  }
  bool all = true;
  std::vector<IdRange> ids;
  const Result<void> taken = for_each_part(word, [&](std::string_view part) -> Result<void> {
    const Result<bool> numbers = take_numbers(part, ids);
    all = all && numbers && *numbers;
    return numbers ? Result<void>() : Failure(numbers.error());
  });
  if (!taken) {
    return Failure(taken.error());
  }
  if (all) {
    filter.ids.insert(filter.ids.end(), ids.begin(), ids.end());
  }
  return all;
}

/// Reads the words of one selection.
class SelectorReader {
 public:
  explicit SelectorReader(const SelectorFacts& facts) : facts_(facts) {}

  Result<void> take(std::string_view word);
  JobFilter finish();

 private:
  Result<void> take_submission(std::string_view word);
  Result<void> take_state(std::string_view value);
  Result<void> take_pair(std::string_view key, std::string_view value, std::string_view word);
  void take_name(std::string_view word);

  const SelectorFacts& facts_;
  JobFilter filter_;
  bool all_running_ = false;  // `running` itself was chosen, not only paused jobs
};

/// "@" and "@~2".
Result<void> SelectorReader::take_submission(std::string_view word) {
  std::size_t back = 0;
  if (word != "@") {
    const Result<std::int64_t> number = word.starts_with("@~")
                                            ? parse_integer(word.substr(2), "the number after @~")
                                            : fail(ErrorCode::Usage, "");
    if (!number || *number < 0) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}' names no submission: say @ for your newest one, @~1 for the "
                              "one before it",
                              word));
    }
    back = static_cast<std::size_t>(*number);
  }
  const std::optional<IdRange> jobs = facts_.submission(back);
  if (!jobs) {
    return fail(ErrorCode::NotFound,
                back == 0 ? "@ is your newest submission, and there is none yet"
                          : fmt::format("there is no submission {}: you have made fewer", word));
  }
  filter_.ids.push_back(*jobs);
  return {};
}

Result<void> SelectorReader::take_state(std::string_view value) {
  if (value == "paused") {
    filter_.phases.push_back(JobPhase::Running);
    filter_.only_running = facts_.paused_jobs();
    return {};
  }
  std::vector<std::string> names;
  const std::size_t before = filter_.phases.size();
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<JobPhase>(i);
    names.emplace_back(phase_name(phase));
    const bool group = (value == "live" && is_live(phase)) || (value == "ended" && !is_live(phase));
    if (value == phase_name(phase) || group) {
      filter_.phases.push_back(phase);
      all_running_ = all_running_ || phase == JobPhase::Running;
    }
  }
  if (filter_.phases.size() == before) {
    return fail(ErrorCode::Usage, fmt::format("there is no state '{}': say live, ended, paused, {}",
                                              value, fmt::join(names, ", ")));
  }
  return {};
}

void SelectorReader::take_name(std::string_view word) {
  const std::size_t slash = word.find('/');
  NamedJobs named;
  if (slash != word.npos) {
    named.project = word.substr(0, slash);
    word.remove_prefix(slash + 1);
  }
  named.name = word.empty() ? "*" : word;
  filter_.or_named.push_back(std::move(named));
}

Result<void> SelectorReader::take_pair(std::string_view key, std::string_view value,
                                       std::string_view word) {
  constexpr std::array<std::string_view, 5> kValued = {"name", "project", "sweep", "state", "user"};
  if (value.empty() && std::find(kValued.begin(), kValued.end(), key) != kValued.end()) {
    // A variable that is not set must not choose every job that has no such value.
    return fail(ErrorCode::Usage, fmt::format("'{}' chooses no job: is a variable empty?", word));
  }
  if (key == "name") {
    filter_.names.emplace_back(value);
    return {};
  }
  if (key == "project") {
    return set_once(filter_.project, value, "project");
  }
  if (key == "sweep") {
    return set_once(filter_.sweep, value, "sweep");
  }
  if (key == "state") {
    return for_each_part(value, [&](std::string_view state) { return take_state(state); });
  }
  if (key == "user") {
    return take_user(value, filter_);
  }
  if (key == "label") {
    const std::size_t split = value.find('=');
    if (split == value.npos || split == 0) {
      return fail(ErrorCode::Usage,
                  fmt::format("a label is chosen by label=KEY=VALUE, not '{}'", word));
    }
    filter_.labels.emplace_back(value.substr(0, split), value.substr(split + 1));
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("jobs cannot be chosen by '{}': say name=, project=, sweep=, state=, "
                          "user= or label=KEY=VALUE",
                          key));
}

Result<void> SelectorReader::take(std::string_view word) {
  if (word.empty() || word == "/") {
    // As a name it would mean every job without one: a variable that is not set must not do that.
    return fail(ErrorCode::Usage, fmt::format("'{}' chooses no job: is a variable empty?", word));
  }
  if (word.front() == '@') {
    return take_submission(word);
  }
  const Result<bool> numbers = take_number_list(word, filter_);
  if (!numbers) {
    return Failure(numbers.error());
  }
  if (*numbers) {
    return {};
  }
  if (const std::size_t equals = word.find('='); equals != word.npos) {
    return take_pair(word.substr(0, equals), word.substr(equals + 1), word);
  }
  take_name(word);
  return {};
}

JobFilter SelectorReader::finish() {
  if (all_running_) {
    filter_.only_running.reset();
  }
  if (filter_.ids.empty() && filter_.or_named.size() == 1 && filter_.names.empty() &&
      !filter_.project) {
    // The usual case, for which there are better ways than to look at every job.
    filter_.project = filter_.or_named[0].project;
    if (filter_.or_named[0].name != "*") {
      filter_.names.push_back(filter_.or_named[0].name);
    }
    filter_.or_named.clear();
  }
  return std::move(filter_);
}

}  // namespace

Result<JobFilter> parse_selector(const std::vector<std::string_view>& words,
                                 const SelectorFacts& facts) {
  SelectorReader reader(facts);
  for (const std::string_view word : words) {
    if (Result<void> taken = reader.take(word); !taken) {
      return Failure(taken.error());
    }
  }
  return reader.finish();
}

}  // namespace berth
