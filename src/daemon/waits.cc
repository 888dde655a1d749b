// Requests that are answered when something has happened: waiting for jobs and for their output.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "daemon/daemon.h"
#include "daemon/replies.h"
#include "daemon/selector.h"

namespace berth {

/// The jobs are looked for in pieces. One that ends meanwhile is found to have ended, or was found
/// before and is then heard of as of all others.
void Daemon::wait(Asked asked) {
  const auto words = asked.request.parameters("select");
  Result<JobFilter> filter = parse_selector(words);
  if (!filter) {
    return answer(std::move(asked.reply), failed(filter.error()));
  }
  const uid_t viewer = user_of(asked.request.peer);
  const std::shared_ptr<Waiters::Waiter> waiter = waiters_.add(std::move(asked.reply));
  if (words.empty()) {
    waiter->everything = waiter->complete = true;
    return;
  }
  JobScan scan;
  scan.filter = privacy_.narrowed(std::move(*filter), viewer);
  scan.abandoned = [waiter] { return waiter->gone(); };
  const auto found = std::make_shared<std::uint64_t>(0);
  scan_jobs(
      std::move(scan),
      [waiter, found](const ScannedJob& job) {
        ++*found;
        if (is_live(job.phase)) {
          waiter->jobs.add(job.id);
        } else {
          waiter->failed += job.phase == JobPhase::Succeeded ? 0 : 1;
        }
      },
      [this, waiter, found](const Result<void>& read) {
        waiter->complete = true;
        if (!read || *found == 0) {
          answer(std::move(waiter->reply),
                 failed(read ? Error{ErrorCode::NotFound, "there is no such job to wait for"}
                             : read.error()));
        }
      });
}

/// After a commit: an end that a client hears of is on disk.
void Daemon::settle_waiters() {
  constexpr Duration kAtMost = std::chrono::milliseconds(5);
  if (waiters_.size() == 0) {
    return;
  }
  waiters_.settle(scheduler().waiting() == 0 && scheduler().running().empty(), kAtMost);
  if (waiters_.behind()) {
    loop_.post([] {});
  }
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
  const Result<JobRecord> record = store_->job_without_environment(id);
  if (!record) {
    return answer(std::move(asked.reply), failed(record.error()));
  }
  if (!may_change(request.peer, record->description.user)) {
    note_refusal(request.peer, "to read the output of jobs of others");
    return answer(std::move(asked.reply),
                  failed({ErrorCode::Refused, fmt::format("job {} is another user's", id.value)}));
  }
  // No number means the newest; one that has not begun yet can be waited for.
  Result<std::optional<StoredAttempt>> chosen = std::optional<StoredAttempt>();
  if (const std::int64_t number = *attempt == 0 ? record->attempt : *attempt;
      number > 0 && number <= std::numeric_limits<std::uint16_t>::max()) {
    chosen = store_->attempt(id, static_cast<std::uint16_t>(number));
  }
  if (!chosen) {
    return answer(std::move(asked.reply), failed(chosen.error()));
  }
  LogRequest wanted;
  wanted.job = id;
  wanted.user = record->description.user;
  wanted.offset = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *offset));
  wanted.tail = *tail;
  wanted.wait = request.parameter("wait").value_or("0") == "1";
  if (*chosen) {
    const StoredAttempt& found = **chosen;
    const bool errors = request.parameter("stream").value_or("out") == "err";
    wanted.attempt = found.attempt;
    wanted.path = errors && !found.stderr_path.empty() ? found.stderr_path : found.stdout_path;
    wanted.over = found.ending.has_value();
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
