#include "daemon/scans/job_scan.h"

#include "daemon/scans/id_window.h"

namespace berth {
namespace {

constexpr std::uint64_t kFirstRange = 500;

}  // namespace

void scan_jobs(Desk& desk, JobScan wanted, std::function<void(const ScannedJob&)> visit,
               std::function<void(const Result<void>&)> done) {
  const IdRange all{JobId{1}, JobId{desk.store.jobs().next_id().value - 1}};
  IdWindow window(all, wanted.descending, kFirstRange);
  desk.turns.later_in_pieces([&desk, wanted = std::move(wanted), visit = std::move(visit),
                              done = std::move(done), window]() mutable {
    if (wanted.abandoned && wanted.abandoned()) {
      return false;
    }
    if (window.over()) {
      done({});
      return false;
    }
    const Time begun = desk.now();
    std::optional<JobId> last;
    const Result<void> read = desk.store.walks().scan(
        {wanted.filter, window.next(), wanted.descending, wanted.commands, window.patience()},
        [&](const ScannedJob& job) {
          last = job.id;
          visit(job);
        });
    if (read) {
      window.looked(desk.now() - begun);
      return true;
    }
    if (read.error().code != ErrorCode::Timeout) {
      done(read);
      return false;
    }
    if (last) {
      window.looked_until(*last);
    }
    window.narrow();
    return true;
  });
}

}  // namespace berth
