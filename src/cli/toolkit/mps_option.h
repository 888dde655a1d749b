// `--mps` and `--thread-percentage`, the same wherever jobs are described.
#pragma once

#include "cli/toolkit/args.h"
#include "core/needs.h"

namespace berth {

class MpsOption {
 public:
  void declare(Args& args);

  /// What was said, for jobs of this process's user.
  Result<void> apply(Needs& needs) const;

 private:
  bool on_ = false;
  std::optional<std::int64_t> percentage_;
};

}  // namespace berth
