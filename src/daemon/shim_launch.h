// What a shim is to start, made from a job's record.
#pragma once

#include <string>

#include "daemon/daemon_devices.h"
#include "drive/driver.h"
#include "exec/shim_runner.h"
#include "store/records.h"

namespace berth {

/// `mark` is the value of BERTH_RUN, by which the processes of the daemon's jobs are told from
/// others'.
ShimLaunch shim_launch(const StartJob& start, const JobRecord& job, const StoredAttempt& attempt,
                       const Driver& driver, const DaemonDevices& devices, const std::string& mark);

}  // namespace berth
