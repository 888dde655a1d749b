// Takes over what the previous daemon left.
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

/// Queued jobs keep waiting, and running jobs go on, on the devices that they have. Fails if
/// something cannot be read; then nothing has been changed on disk.
Result<void> restore_jobs(const RestoreParts& parts);

/// Learns how long jobs take, from the jobs that ended last.
Result<void> learn_lengths(Store& store, LengthLessons& lengths);

}  // namespace berth
