// BERTH_CHECK: a broken invariant ends the process, in every build. Jobs outlive the process.
#pragma once

namespace berth {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace berth

#define BERTH_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::berth::check_failed(#condition, __FILE__, __LINE__))
