// Requests that are answered when something has happened: waiting for jobs and for their output.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "daemon/replies.h"
#include "daemon/selector.h"

namespace berth {

void Daemon::wait(Asked asked) {
  const auto words = asked.request.parameters("select");
  Result<JobFilter> filter = parse_selector(words);
  if (!filter) {
    return answer(std::move(asked.reply), failed(filter.error()));
  }
  Waiter waiter;
  waiter.everything = words.empty();
  if (!waiter.everything) {
    JobQuery query;
    query.filter = privacy_.narrowed(std::move(*filter), user_of(asked.request.peer));
    query.limit = 10'000;
    std::uint64_t found = 0;
    for (bool more = true; more;) {
      const Result<JobPage> page = store_->list(query);
      if (!page) {
        return answer(std::move(asked.reply), failed(page.error()));
      }
      for (const JobRecord& job : page->jobs) {
        ++found;
        if (is_live(job.phase)) {
          waiter.jobs.insert(job.id);
        } else {
          waiter.failed += job.phase == JobPhase::Succeeded ? 0 : 1;
        }
      }
      query.after = page->next;
      more = page->next.has_value();
    }
    if (found == 0) {
      return answer(std::move(asked.reply),
                    failed({ErrorCode::NotFound, "there is no such job to wait for"}));
    }
  }
  waiter.reply = std::move(asked.reply);
  waiters_.push_back(std::move(waiter));
  after_commit([this] { settle_waiters(JobId{}, false); });
}

/// Answers those who have nothing left to wait for. `ended`: none when 0.
void Daemon::settle_waiters(JobId ended, bool failed_job) {
  for (Waiter& waiter : waiters_) {
    if (waiter.jobs.erase(ended) > 0) {
      waiter.failed += failed_job ? 1 : 0;
    }
    const bool idle = scheduler_->waiting() == 0 && scheduler_->running().empty();
    if (waiter.jobs.empty() && (!waiter.everything || idle)) {
      waiter.reply->respond(json(fmt::format(R"({{"version":1,"failed":{}}})", waiter.failed)));
      waiter.reply.reset();
    }
  }
  std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.reply == nullptr; });
}

void Daemon::read_log(Asked asked) {
  const HttpRequest& request = asked.request;
  const JobId id = asked.job;
  const auto number = [&](std::string_view name, std::string_view otherwise) {
    return parse_integer(request.parameter(name).value_or(otherwise), name);
  };
  const Result<std::int64_t> attempt = number("attempt", "0");
  const Result<std::int64_t> offset = number("offset", "0");
  const Result<std::int64_t> tail = number("tail", "-1");
  for (const auto* value : {&attempt, &offset, &tail}) {
    if (!*value) {
      return answer(std::move(asked.reply), failed(value->error()));
    }
  }
  const Result<JobRecord> record = store_->job(id);
  if (!record) {
    return answer(std::move(asked.reply), failed(record.error()));
  }
  if (!may_change(request.peer, record->description.user)) {
    note_refusal(request.peer, "to read the output of jobs of others");
    return answer(std::move(asked.reply),
                  failed({ErrorCode::Refused, fmt::format("job {} is another user's", id.value)}));
  }
  const Result<std::vector<StoredAttempt>> attempts = store_->attempts(id);
  if (!attempts) {
    return answer(std::move(asked.reply), failed(attempts.error()));
  }
  LogRequest wanted;
  wanted.job = id;
  wanted.user = record->description.user;
  wanted.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *offset));
  wanted.tail = *tail;
  wanted.wait = request.parameter("wait").value_or("0") == "1";
  // No number means the newest; one that has not begun yet can be waited for.
  const auto chosen =
      *attempt == 0 && !attempts->empty()
          ? attempts->end() - 1
          : std::find_if(attempts->begin(), attempts->end(),
                         [&](const StoredAttempt& one) { return one.attempt == *attempt; });
  if (chosen != attempts->end()) {
    const bool errors = request.parameter("stream").value_or("out") == "err";
    wanted.attempt = chosen->attempt;
    wanted.path =
        errors && !chosen->stderr_path.empty() ? chosen->stderr_path : chosen->stdout_path;
    wanted.over = chosen->ending.has_value();
  } else if (!is_live(record->phase)) {
    return answer(
        std::move(asked.reply),
        failed({ErrorCode::NotFound,
                *attempt == 0 ? fmt::format("job {} never ran", id.value)
                              : fmt::format("job {} has had no attempt {}", id.value, *attempt)}));
  }
  after_commit([this, held = std::make_shared<Reply>(std::move(asked.reply)), wanted] {
    logs_.read(wanted, std::move(*held), now());
  });
}

}  // namespace berth
