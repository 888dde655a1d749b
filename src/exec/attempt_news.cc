#include "exec/attempt_news.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace berth {

AttemptNews::AttemptNews() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void AttemptNews::update() {
  const bool wanted = !starts_.empty() || !ends_.empty() || !pauses_.empty();
  if (wanted == readable_) {
    return;
  }
  readable_ = wanted;
  std::uint64_t count = 1;
  const ssize_t done = wanted ? ::write(event_.get(), &count, sizeof count)
                              : ::read(event_.get(), &count, sizeof count);
  (void)done;
}

std::vector<AttemptStart> AttemptNews::take_starts() {
  std::vector<AttemptStart> taken = std::exchange(starts_, {});
  update();
  return taken;
}

std::vector<AttemptEnd> AttemptNews::take_ends() {
  const auto untold = std::stable_partition(ends_.begin(), ends_.end(), [&](const AttemptEnd& end) {
    return std::none_of(starts_.begin(), starts_.end(), [&](const AttemptStart& start) {
      return start.job == end.job && start.attempt == end.attempt;
    });
  });
  std::vector<AttemptEnd> taken(ends_.begin(), untold);
  ends_.erase(ends_.begin(), untold);
  update();
  return taken;
}

std::vector<JobId> AttemptNews::take_pauses() {
  std::vector<JobId> taken = std::exchange(pauses_, {});
  update();
  return taken;
}

}  // namespace berth
