// Taking up what the daemon before has left.
#pragma once

#include <string>

#include "daemon/shim_host.h"

namespace berth {

struct RestoreParts {
  Desk& desk;
  ShimHost& host;
  ShimRunner& runner;
  DaemonDevices& devices;
  std::string state_folder;
};

/// Queued jobs wait as they did, running ones go on, on the devices that they have. What could not
/// be read is an error, and nothing has been changed on disk then.
Result<void> restore_jobs(const RestoreParts& parts);

/// How long jobs took, from those that ended last.
Result<void> learn_lengths(Store& store, History& history);

}  // namespace berth
