// How often a job may use more than the claim that was learned: as given at the start, else as the
// previous daemon was told, else as usual.
#pragma once

#include "daemon/start.h"
#include "drive/driver.h"
#include "store/store.h"

namespace berth {

Result<double> read_risk(Store& store, const DaemonOptions& options);
/// Keeps the risk of the driver. If it is another than before, the jobs that wait get other claims.
Result<void> settle_risk(Store& store, Driver& driver);

}  // namespace berth
