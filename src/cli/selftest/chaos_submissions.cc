#include "cli/selftest/chaos_submissions.h"

#include <fmt/format.h>
#include <unistd.h>

#include "api/messages/submit.h"
#include "cli/selftest/chaos_daemon.h"

namespace berth {

Result<void> ChaosSubmissions::submit_or_settle(std::vector<ChaosJob> batch,
                                                const std::string& token) {
  Result<void> submitted = submit(batch, token);
  if (submitted || submitted.error().code != ErrorCode::Refused) {
    return submitted;
  }
  for (ChaosJob& job : batch) {
    job.when = jobs_[job.number - 1].when = Dependency::When::Any;
  }
  return submit(batch, token);
}

Result<void> ChaosSubmissions::submit(const std::vector<ChaosJob>& batch,
                                      const std::string& token) {
  SubmitRequest request;
  request.token = token;
  request.defaults.directory = home_;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    request.defaults.environment.emplace_back(*entry);
  }
  for (const ChaosJob& job : batch) {
    JobDescription& description = request.jobs.emplace_back().description;
    description.name = std::to_string(job.number);
    description.command = chaos_command(job, program_, ledger());
    description.directory = home_;
    description.spec.needs.gpus = job.gpus;
    description.spec.retry.most = job.retries;
    if (job.after != 0) {
      description.spec.after.push_back({JobId{acknowledged_.at(job.after)}, job.when});
    }
  }
  const Result<std::string> body =
      ask_until_answered("POST", "/v1/jobs", to_json(request), repeated_);
  if (!body) {
    return Failure(body.error());
  }
  const Result<SubmitReply> reply = parse_submit_reply(*body);
  if (!reply) {
    return Failure(reply.error());
  }
  if (reply->count != batch.size()) {
    findings_.push_back(
        {Finding::Kind::Wrong, fmt::format("{} of {} jobs of a submission were acknowledged",
                                           reply->count, batch.size())});
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    acknowledged_[batch[i].number] = reply->first.value + i;
  }
  return {};
}

}  // namespace berth
