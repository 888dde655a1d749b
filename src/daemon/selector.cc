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

Result<void> take_state(std::string_view value, JobFilter& filter) {
  std::vector<std::string> names;
  const std::size_t before = filter.phases.size();
  for (std::size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<JobPhase>(i);
    names.emplace_back(phase_name(phase));
    const bool group = (value == "live" && is_live(phase)) || (value == "ended" && !is_live(phase));
    if (value == phase_name(phase) || group) {
      filter.phases.push_back(phase);
    }
  }
  if (filter.phases.size() == before) {
    return fail(ErrorCode::Usage, fmt::format("there is no state '{}': say live, ended, {}", value,
                                              fmt::join(names, ", ")));
  }
  return {};
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

Result<void> take(std::string_view word, JobFilter& filter) {
  if (word.empty() || word == "/") {
    // As a name it would mean every job without one: a variable that is not set must not do that.
    return fail(ErrorCode::Usage, fmt::format("'{}' chooses no job: is a variable empty?", word));
  }
  const Result<bool> numbers = take_number_list(word, filter);
  if (!numbers) {
    return Failure(numbers.error());
  }
  if (*numbers) {
    return {};
  }
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, std::min(equals, word.size()));
  const std::string_view value = equals == word.npos ? "" : word.substr(equals + 1);
  if (equals == word.npos) {
    const std::size_t slash = word.find('/');
    NamedJobs named;
    if (slash != word.npos) {
      named.project = word.substr(0, slash);
      word.remove_prefix(slash + 1);
    }
    named.name = word.empty() ? "*" : word;
    filter.or_named.push_back(std::move(named));
    return {};
  }
  constexpr std::array<std::string_view, 5> kValued = {"name", "project", "sweep", "state", "user"};
  if (value.empty() && std::find(kValued.begin(), kValued.end(), key) != kValued.end()) {
    // A variable that is not set must not choose every job that has no such value.
    return fail(ErrorCode::Usage, fmt::format("'{}' chooses no job: is a variable empty?", word));
  }
  if (key == "name") {
    filter.names.emplace_back(value);
    return {};
  }
  if (key == "project") {
    return set_once(filter.project, value, "project");
  }
  if (key == "sweep") {
    return set_once(filter.sweep, value, "sweep");
  }
  if (key == "state") {
    return for_each_part(value, [&](std::string_view state) { return take_state(state, filter); });
  }
  if (key == "user") {
    return take_user(value, filter);
  }
  if (key == "label") {
    const std::size_t split = value.find('=');
    if (split == value.npos || split == 0) {
      return fail(ErrorCode::Usage,
                  fmt::format("a label is chosen by label=KEY=VALUE, not '{}'", word));
    }
    filter.labels.emplace_back(value.substr(0, split), value.substr(split + 1));
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("jobs cannot be chosen by '{}': say name=, project=, sweep=, state=, "
                          "user= or label=KEY=VALUE",
                          key));
}

}  // namespace

Result<JobFilter> parse_selector(const std::vector<std::string_view>& words) {
  JobFilter filter;
  for (const std::string_view word : words) {
    if (Result<void> taken = take(word, filter); !taken) {
      return Failure(taken.error());
    }
  }
  if (filter.ids.empty() && filter.or_named.size() == 1 && filter.names.empty() &&
      !filter.project) {
    // The usual case, for which there are better ways than to look at every job.
    filter.project = filter.or_named[0].project;
    if (filter.or_named[0].name != "*") {
      filter.names.push_back(filter.or_named[0].name);
    }
    filter.or_named.clear();
  }
  return filter;
}

}  // namespace berth
