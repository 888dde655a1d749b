// `--mps` and `--thread-percentage`, the same in every command that describes jobs.
#pragma once

#include "cli/toolkit/args.h"
#include "core/needs.h"

namespace berth {

class MpsOption {
 public:
  /// Whether `-m`, and True or False after it, are taken: the priority-based scheduler has them.
  enum class Word { No, May };
  void declare(Args& args, Word word = Word::No);

  /// Applies the options to the needs of a job of this process's user.
  Result<void> apply(Needs& needs) const;

 private:
  bool on_ = false;
  std::optional<std::int64_t> percentage_;
};

}  // namespace berth
