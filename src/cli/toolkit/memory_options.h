// The options for how jobs share a GPU, the same in every command that takes them.
#pragma once

#include <optional>

#include "cli/toolkit/args.h"
#include "core/device_table.h"

namespace berth {

/// How jobs share GPUs: `--buffer`, `--placement`, `--enforce` and `--oom-risk`.
struct SharingOptions {
  Bytes buffer = DeviceTable::Limits{}.buffer;
  std::optional<Placement> placement;
  bool enforce_claims = false;
  std::optional<double> oom_risk;

  void declare(Args& args);
};

}  // namespace berth
