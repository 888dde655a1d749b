#include "gpu/mps/mps_waits.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/check.h"

namespace berth {

MpsWaits::MpsWaits()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      folders_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  BERTH_CHECK(epoll_ && folders_ && timer_);
  watch(folders_.get());
  watch(timer_.get());
}

void MpsWaits::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  BERTH_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0);
}

void MpsWaits::watch(const MpsPlace& place) const { watch_pipe(place, folders_.get()); }

void MpsWaits::wake_at(Clock::time_point time) {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  itimerspec when{};
  if (time != Clock::time_point::max()) {
    const auto left = std::max<Clock::duration>(time - Clock::now(), nanoseconds(1));
    when.it_value.tv_sec = left / seconds(1);
    when.it_value.tv_nsec = (left % seconds(1)) / nanoseconds(1);
  }
  (void)::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

bool MpsWaits::clear() {
  std::array<char, 4096> block;
  bool news = false;
  while (::read(folders_.get(), block.data(), block.size()) > 0) {
    news = true;
  }
  std::uint64_t expired = 0;
  (void)!::read(timer_.get(), &expired, sizeof expired);
  return news;
}

}  // namespace berth
