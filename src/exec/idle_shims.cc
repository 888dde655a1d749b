#include "exec/idle_shims.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth {
namespace {

/// Longer than a client needs to queue its next job, and too short to be seen in a list of
/// processes.
constexpr std::chrono::milliseconds kPatience(200);
constexpr std::size_t kMost = 64;

}  // namespace

IdleShims::IdleShims() : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

void IdleShims::add(ShimLine shim) {
  if (!timer_ || idle_.size() >= kMost) {
    return;
  }
  idle_.push_back({std::move(shim), Clock::now()});
  set_timer();
}

std::optional<ShimLine> IdleShims::take(uid_t user) {
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                  [&](const Idle& each) { return each.shim.user == user; });
  if (found == idle_.rend()) {
    return std::nullopt;
  }
  std::optional<ShimLine> taken = std::move(found->shim);
  idle_.erase(std::next(found).base());
  return taken;
}

void IdleShims::expire() {
  std::uint64_t count = 0;
  (void)!::read(timer_.get(), &count, sizeof count);
  timing_ = false;
  const Clock::time_point now = Clock::now();
  std::erase_if(idle_, [&](const Idle& each) { return now - each.since >= kPatience; });
  set_timer();
}

void IdleShims::forget_dead() {
  std::erase_if(idle_, [](const Idle& each) {
    pollfd state{each.shim.wire.get(), 0, 0};
    return ::poll(&state, 1, 0) != 0;
  });
}

/// One that is set already comes early enough.
void IdleShims::set_timer() {
  if (idle_.empty() || timing_) {
    return;
  }
  timing_ = true;
  const auto left = std::max<Clock::duration>(idle_.front().since + kPatience - Clock::now(),
                                              std::chrono::milliseconds(1));
  const auto whole = std::chrono::duration_cast<std::chrono::nanoseconds>(left);
  itimerspec when{};
  when.it_value.tv_sec = whole / std::chrono::seconds(1);
  when.it_value.tv_nsec = (whole % std::chrono::seconds(1)).count();
  (void)::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

}  // namespace berth
