// Which policy decides: the one given at the start, else the one that the previous daemon was told,
// else the default.
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
/// The policy that decides on paper, as given at the start, else as before; empty: none.
Result<std::string> read_shadow(Store& store, const DaemonOptions& options);
Result<void> keep_policy(Store& store, const Driver& driver);

}  // namespace berth
