#include "cli/toolkit/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "api/http_text.h"
#include "api/messages/ids.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/question.h"

namespace berth {

void Selection::declare(Args& args, std::size_t least) {
  args.positional("JOBS…",
                  "numbers and ranges (12 3-7), @ for your newest submission, names (train*,\n"
                  "vision/train); these or all,\n"
                  "narrowed by project=P, sweep=S, state=failed, label=KEY=VALUE, user=U",
                  least, 1'000'000, [this](std::string_view word) -> Result<void> {
                    words_.emplace_back(word);
                    return {};
                  });
}

/// Numbers in a row become ranges: a shell's $(seq 1 10000) would not fit into a request.
std::vector<std::string> Selection::tidy_words() const {
  std::vector<std::string> tidied;
  std::vector<std::int64_t> numbers;
  for (const std::string& word : words_) {
    const Result<std::int64_t> number = parse_integer(word, "a job");
    if (number && *number > 0) {
      numbers.push_back(*number);
    } else {
      tidied.push_back(word);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (std::size_t first = 0, next = 1; first < numbers.size(); first = next++) {
    while (next < numbers.size() && numbers[next] == numbers[next - 1] + 1) {
      ++next;
    }
    tidied.push_back(next - first == 1 ? std::to_string(numbers[first])
                                       : fmt::format("{}-{}", numbers[first], numbers[next - 1]));
  }
  return tidied;
}

std::string Selection::query() const {
  std::string text;
  for (const std::string& word : tidy_words()) {
    text += (text.empty() ? "select=" : "&select=") + percent_encode(word);
  }
  return text;
}

Result<void> Selection::choose_newest_if_empty() {
  if (!empty()) {
    return {};
  }
  const Result<JobsReply> newest = as_message(
      ask_daemon("GET",
                 fmt::format("/v1/jobs?all=1&descending=1&limit=1&select=user={}", ::getuid())),
      parse_jobs_reply);
  if (!newest) {
    return Failure(newest.error());
  }
  if (newest->jobs.empty()) {
    return fail(ErrorCode::NotFound, "you have not submitted a job yet");
  }
  add(std::to_string(newest->jobs[0].id.value));
  return {};
}

bool Selection::one_by_one() const {
  return std::all_of(words_.begin(), words_.end(), [](const std::string& word) {
    return word.find_first_not_of("0123456789") == word.npos;
  });
}

Result<bool> confirm(std::string_view verb, const Selection& selection, std::string_view among) {
  if (selection.one_by_one() || !can_ask()) {
    return true;
  }
  const bool narrowed =
      std::any_of(selection.words().begin(), selection.words().end(),
                  [](const std::string& word) { return word.starts_with("state="); });
  const Result<IdsReply> chosen =
      as_message(ask_daemon("GET", fmt::format("/v1/jobs/ids?{}{}", selection.query(),
                                               narrowed ? "" : "&select=" + percent_encode(among))),
                 parse_ids_reply);
  if (!chosen) {
    return Failure(chosen.error());
  }
  return chosen->count <= 1 || is_agreed(fmt::format("{} {} jobs?", verb, chosen->count));
}

Result<std::vector<JobReport>> list_jobs(const Selection& selection, bool all) {
  constexpr std::int64_t kPage = 1000;
  std::vector<JobReport> jobs;
  JobId after;
  for (bool more = true; more;) {
    Result<JobsReply> page = as_message(
        ask_daemon("GET", fmt::format("/v1/jobs?all={}&after={}&limit={}&{}", all ? 1 : 0,
                                      after.value, kPage, selection.query())),
        parse_jobs_reply);
    if (!page) {
      return Failure(page.error());
    }
    std::move(page->jobs.begin(), page->jobs.end(), std::back_inserter(jobs));
    more = page->next.has_value();
    after = page->next.value_or(after);
  }
  return jobs;
}

Result<std::map<JobId, JobReport>> find_jobs(std::span<const JobId> ids) {
  constexpr std::size_t kAtOnce = 500;  // numbers in one request
  std::map<JobId, JobReport> found;
  for (std::size_t first = 0; first < ids.size(); first += kAtOnce) {
    Selection part;
    for (const JobId id : ids.subspan(first, std::min(kAtOnce, ids.size() - first))) {
      part.add(std::to_string(id.value));
    }
    Result<std::vector<JobReport>> jobs = list_jobs(part, true);
    if (!jobs) {
      return Failure(jobs.error());
    }
    for (JobReport& job : *jobs) {
      found.emplace(job.id, std::move(job));
    }
  }
  return found;
}

Result<OrderedJobs> list_ordered_jobs(const Selection& selection, bool all,
                                      const JobOrdering& order, std::size_t limit) {
  const Result<IdsReply> chosen = as_message(
      ask_daemon("GET", fmt::format("/v1/jobs/ids?all={}&sort={}&descending={}&limit={}&{}",
                                    all ? 1 : 0, percent_encode(order.sort),
                                    order.descending ? 1 : 0, limit, selection.query())),
      parse_ids_reply);
  if (!chosen) {
    return Failure(chosen.error());
  }
  const std::vector<JobId> ids = chosen->first(limit);
  Result<std::map<JobId, JobReport>> jobs = find_jobs(ids);
  if (!jobs) {
    return Failure(jobs.error());
  }
  OrderedJobs ordered{{}, chosen->count, chosen->states};
  for (const JobId id : ids) {
    if (auto job = jobs->extract(id)) {  // else it was forgotten meanwhile
      ordered.jobs.push_back(std::move(job.mapped()));
    }
  }
  return ordered;
}

}  // namespace berth
