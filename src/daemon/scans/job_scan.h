// Looks at very many jobs in pieces of a few milliseconds, so that other requests need not wait.
#pragma once

#include <functional>

#include "daemon/desk.h"

namespace berth {

struct JobScan {
  JobFilter filter;
  bool descending = false;
  bool commands = false;            // visit() reads the commands
  std::function<bool()> abandoned;  // the client has gone: the scan ends and does not call `done`
};

/// `done` gets the result. A job that changes during the scan is seen as it was or as it is.
void scan_jobs(Desk& desk, JobScan wanted, std::function<void(const ScannedJob&)> visit,
               std::function<void(const Result<void>&)> done);

}  // namespace berth
