// --halt: when failures end a run early.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace berth {

/// `never`, `soon,fail=N` or `now,fail=N%`. Once N jobs have failed, `soon` starts nothing more,
/// and `now` also ends the running jobs. N% is the share of ended jobs that have failed, and
/// applies from the third ended job on. `success=N` counts successes instead.
struct Halt {
  enum class When : std::uint8_t { Never, Soon, Now };
  When when = When::Never;
  bool on_success = false;
  std::uint64_t count = 0;
  bool percent = false;

  bool reached(std::uint64_t succeeded, std::uint64_t failed) const;
};

Result<Halt> parse_halt(std::string_view text);

}  // namespace berth
