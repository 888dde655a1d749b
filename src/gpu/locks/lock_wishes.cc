#include "gpu/locks/lock_wishes.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace berth {

LockWishes::LockWishes() : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

void LockWishes::follow(const Fd& folder) {
  const std::string path = fmt::format("/proc/self/fd/{}", folder.get());
  hears_ = events_ && ::inotify_add_watch(events_.get(), path.c_str(), IN_CREATE) >= 0;
}

LockWishes::Made LockWishes::take() {
  Made made;
  alignas(inotify_event) char bytes[16 * 1024];
  for (ssize_t got = 0; (got = ::read(events_.get(), bytes, sizeof bytes)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(bytes + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
      made.missed = made.missed || (event->mask & IN_Q_OVERFLOW) != 0;
      if (event->len > 0) {
        made.names.emplace_back(event->name);
      }
    }
  }
  return made;
}

}  // namespace berth
