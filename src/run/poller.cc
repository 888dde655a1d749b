#include "run/poller.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/check.h"

namespace berth {

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) { BERTH_CHECK(epoll_); }

bool Poller::add(int fd, Handler on_readable) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return false;
  }
  handlers_[fd] = std::move(on_readable);
  return true;
}

void Poller::remove(int fd) {
  if (handlers_.erase(fd) > 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
}

void Poller::wait(Duration timeout) {
  // Rounded up: waking a moment too early would only mean to wait again.
  int milliseconds = -1;
  if (timeout != kForever) {
    const auto rounded =
        std::chrono::ceil<std::chrono::milliseconds>(std::max(timeout, Duration{}));
    milliseconds = static_cast<int>(std::min<std::int64_t>(rounded.count(), INT_MAX));
  }
  std::array<epoll_event, 32> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), milliseconds);
  for (int i = 0; i < count; ++i) {
    // A handler may have removed one that is still in this list.
    const auto handler = handlers_.find(events[static_cast<std::size_t>(i)].data.fd);
    if (handler != handlers_.end()) {
      const Handler call = handler->second;
      call();
    }
  }
}

}  // namespace berth
