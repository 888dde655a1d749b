#include <fmt/format.h>

#include "daemon/handlers/jobs.h"
#include "daemon/job_choice.h"
#include "daemon/scans/job_scan.h"

namespace berth {

/// The jobs are looked for in pieces. One that ends meanwhile is found to have ended, or was found
/// before and is then heard of as of all others.
void wait_for_jobs(Desk& desk, Waiters& waiters, RoutedRequest asked) {
  const auto words = asked.request.parameters("select");
  Result<JobFilter> filter = choose_jobs(desk, asked.request);
  if (!filter) {
    return desk.answer(std::move(asked.reply), failed(filter.error()));
  }
  const uid_t viewer = asked.request.peer.uid;
  const std::shared_ptr<Waiters::Waiter> waiter = waiters.add(std::move(asked.reply));
  if (words.empty()) {
    waiter->everything = waiter->complete = true;
    return;
  }
  JobScan scan;
  scan.filter = desk.privacy.narrowed(std::move(*filter), viewer);
  scan.abandoned = [waiter] { return waiter->gone(); };
  const auto found = std::make_shared<std::uint64_t>(0);
  scan_jobs(
      desk, std::move(scan),
      [waiter, found](const ScannedJob& job) {
        ++*found;
        if (is_live(job.phase)) {
          waiter->jobs.add(job.id);
        } else {
          waiter->failed += job.phase == JobPhase::Succeeded ? 0 : 1;
        }
      },
      [&desk, waiter, found](const Result<void>& read) {
        waiter->complete = true;
        if (!read || *found == 0) {
          desk.answer(std::move(waiter->reply),
                      failed(read ? Error{ErrorCode::NotFound, "there is no such job to wait for"}
                                  : read.error()));
        }
      });
}

}  // namespace berth
