// KeyedEpoll: one descriptor that tells of many, each by a number of its owner's choice.
#pragma once

#include <sys/epoll.h>

#include <cstdint>

#include "base/fd.h"

namespace berth {

class KeyedEpoll {
 public:
  /// Not open where this process may have no more descriptors; errno says so.
  KeyedEpoll() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  bool is_open() const { return static_cast<bool>(epoll_); }
  int fd() const { return epoll_.get(); }

  void add(int fd, std::uint64_t key, std::uint32_t events) const {
    set(EPOLL_CTL_ADD, fd, key, events);
  }
  /// The same for one that is known under another number.
  void change(int fd, std::uint64_t key, std::uint32_t events) const {
    set(EPOLL_CTL_MOD, fd, key, events);
  }
  void remove(int fd) const { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

 private:
  void set(int operation, int fd, std::uint64_t key, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    ::epoll_ctl(epoll_.get(), operation, fd, &event);
  }

  Fd epoll_;
};

}  // namespace berth
