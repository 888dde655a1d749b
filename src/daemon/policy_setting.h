// Which policy decides: what the start says; else what the daemon before was told; else the usual.
#pragma once

#include "daemon/start.h"
#include "drive/driver.h"
#include "store/store.h"

namespace berth {

struct PolicySetting {
  std::string policy;  // its name, with its settings: "energy:1500"
  Placement placement = kUsualPlacement;
};
Result<PolicySetting> read_policy(Store& store, const DaemonOptions& options);
Result<void> keep_policy(Store& store, const Driver& driver);

}  // namespace berth
