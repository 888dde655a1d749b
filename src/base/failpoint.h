// BERTH_FAILPOINT: a named step at which a test can end, stop or fail this process. Always compiled
// in; costs one relaxed load while no failpoint is set.
//
// BERTH_FAILPOINTS="shim.after_create=kill;shim.write_end=errno:28*3" sets failpoints for a program
// and all processes that it forks. Actions: kill (SIGKILL to itself), stop (SIGSTOP to itself),
// errno:N (the step fails with N). "*K" limits an action to its first K times in each process.
#pragma once

#include <atomic>
#include <string_view>

namespace berth {

namespace failpoint_detail {
extern std::atomic<bool> armed;
int hit(std::string_view name);
}  // namespace failpoint_detail

/// Replaces all failpoints of this process. Malformed words are ignored.
void set_failpoints(std::string_view text);

}  // namespace berth

/// The errno with which this step must fail; 0 to go on.
#define BERTH_FAILPOINT(name)                                       \
  (::berth::failpoint_detail::armed.load(std::memory_order_relaxed) \
       ? ::berth::failpoint_detail::hit(name)                       \
       : 0)
