// A look at very many jobs without letting others wait: in pieces of a few milliseconds.
#pragma once

#include <functional>

#include "daemon/desk.h"

namespace berth {

struct JobScan {
  JobFilter filter;
  bool descending = false;
  bool commands = false;            // visit() looks at them
  std::function<bool()> abandoned;  // whoever asked has gone: it ends, and tells nobody
};

/// `done` is told how it went. A job that changes meanwhile is seen as it was or as it is.
void scan_jobs(Desk& desk, JobScan wanted, std::function<void(const ScannedJob&)> visit,
               std::function<void(const Result<void>&)> done);

}  // namespace berth
