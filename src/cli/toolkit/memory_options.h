// The options about sharing a GPU's memory, the same wherever they are taken.
#pragma once

#include <optional>

#include "cli/toolkit/args.h"
#include "core/device_table.h"

namespace berth {

/// `--mem`: what a job claims.
void add_claim_option(Args& args, Needs& needs);

/// How jobs share GPUs: `--buffer`, `--placement` and `--enforce`.
struct SharingOptions {
  Bytes buffer = DeviceTable::Limits{}.buffer;
  std::optional<Placement> placement;
  bool enforce_claims = false;

  void declare(Args& args);
};

}  // namespace berth
