#include "cli/selftest/chaos_daemon.h"

#include <fmt/format.h>

#include <cstdlib>

#include "api/messages/job.h"
#include "cli/toolkit/daemon_client.h"

namespace berth {

Result<std::string> ask_until_answered(std::string_view method, std::string_view target,
                                       std::string_view body, std::uint32_t& repeated) {
  const auto deadline = std::chrono::steady_clock::now() + kChaosPatience;
  for (;; ++repeated) {
    Result<HttpClient> daemon = connect_daemon();
    Result<std::string> answer =
        daemon ? ask(*daemon, method, target, body) : Result<std::string>(Failure(daemon.error()));
    if (answer || answer.error().code != ErrorCode::Unavailable ||
        std::chrono::steady_clock::now() > deadline) {
      return answer;
    }
  }
}

Result<void> wait_for_chaos_jobs() {
  std::uint32_t repeated = 0;
  const Result<std::string> body = ask_until_answered("GET", "/v1/wait", "", repeated);
  return body ? Result<void>() : Failure(body.error());
}

Result<std::vector<JobOnRecord>> read_chaos_records() {
  std::vector<JobOnRecord> records;
  std::uint64_t after = 0;
  for (;;) {
    std::uint32_t repeated = 0;
    const Result<std::string> body = ask_until_answered(
        "GET", fmt::format("/v1/jobs?all=1&after={}&limit=1000", after), "", repeated);
    const Result<JobsReply> page = as_message(body, parse_jobs_reply);
    if (!page) {
      return Failure(page.error());
    }
    for (const JobReport& job : page->jobs) {
      JobOnRecord& record = records.emplace_back();
      record.id = job.id.value;
      record.number = static_cast<std::uint32_t>(std::atoi(job.description.name.c_str()));
      record.state = job.state;
      record.attempt = job.attempt;
      record.exit_code = job.exit_code;
      record.signal = job.signal;
    }
    if (!page->next) {
      return records;
    }
    after = page->next->value;
  }
}

}  // namespace berth
