// --halt: when failures end a run early.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace berth {

/// `never`, or `soon,fail=N`, `now,fail=N%`: start nothing more, or end the running jobs too, once
/// that many jobs (or that part of those that have ended, from the third on) have failed.
/// `success=N` counts successes instead.
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
