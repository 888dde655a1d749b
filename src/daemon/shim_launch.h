// What a shim must start, made from a job's record.
#pragma once

#include <string>

#include "daemon/daemon_devices.h"
#include "drive/driver.h"
#include "exec/shim_runner.h"
#include "store/records.h"

namespace berth {

/// `mark` is the value of BERTH_RUN, which tells the processes of the daemon's jobs from others.
ShimLaunch shim_launch(const StartJob& start, const JobRecord& job, const StoredAttempt& attempt,
                       const Driver& driver, const DaemonDevices& devices, const std::string& mark);

}  // namespace berth
