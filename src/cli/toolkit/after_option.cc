#include "cli/toolkit/after_option.h"

#include <fmt/format.h>

#include "api/http_text.h"
#include "api/messages/ids.h"
#include "base/units.h"
#include "cli/toolkit/daemon_client.h"
#include "spec/line_options.h"

namespace berth {
namespace {

Result<std::vector<JobId>> ask_for_jobs(std::string_view word, std::string_view which,
                                        std::size_t most) {
  const Result<IdsReply> found = as_message(
      ask_daemon("GET", fmt::format("/v1/jobs/ids?all=1&sort=id&descending=1&select={}{}",
                                    percent_encode(word), which)),
      parse_ids_reply);
  return found ? Result<std::vector<JobId>>(found->first(most)) : Failure(found.error());
}

Result<std::vector<JobId>> jobs_to_follow(std::string_view word) {
  if (const Result<std::int64_t> number = parse_integer(word, "a job"); number && *number > 0) {
    return std::vector{JobId{static_cast<std::uint64_t>(*number)}};
  }
  const bool exact = word.find_first_not_of("0123456789-") == word.npos || word.starts_with('@');
  Result<std::vector<JobId>> jobs =
      exact ? ask_for_jobs(word, "", 0) : ask_for_jobs(word, "&select=state=live", 0);
  if (jobs && jobs->empty() && !exact) {
    jobs = ask_for_jobs(word, "", 1);
  }
  if (jobs && jobs->empty()) {
    return fail(ErrorCode::NotFound, fmt::format("--after: there is no job '{}'", word));
  }
  return jobs;
}

}  // namespace

Result<std::vector<Dependency>> read_after(std::string_view text) {
  const Result<std::vector<AfterName>> names = parse_after(text);
  if (!names) {
    return Failure(names.error());
  }
  std::vector<Dependency> after;
  for (const AfterName& name : *names) {
    const Result<std::vector<JobId>> jobs = jobs_to_follow(name.job);
    if (!jobs) {
      return Failure(jobs.error());
    }
    for (const JobId job : *jobs) {
      after.push_back({job, name.when});
    }
  }
  return after;
}

}  // namespace berth
