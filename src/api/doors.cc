#include "api/doors.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace berth {
namespace {

/// Connections that are taken before others get their turn.
constexpr int kAccepts = 16;

/// No more to take now, as opposed to: cannot take any.
bool is_passing(int error) {
  return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

}  // namespace

Doors::Doors(Loop& loop, OnClient on_client, Loop::Call on_exhausted)
    : loop_(loop), on_client_(std::move(on_client)), on_exhausted_(std::move(on_exhausted)) {}

void Doors::add(UnixListener listener) {
  unix_.push_back(std::move(listener));
  add_door(unix_.back().fd(), nullptr);
}

void Doors::add(TcpListener listener, TcpAccess access) {
  access.hosts = host_names(listener.host, listener.port);
  tcp_.push_back(std::move(listener.fd));
  add_door(tcp_.back().get(), std::make_shared<const TcpAccess>(std::move(access)));
}

void Doors::retry() {
  if (std::exchange(exhausted_, false)) {
    open();
  }
}

void Doors::close() {
  pause();
  doors_.clear();
}

void Doors::add_door(int fd, std::shared_ptr<const TcpAccess> access) {
  doors_.push_back({fd, std::move(access)});
  pause();
  open();
}

void Doors::open() {
  if (std::exchange(open_, true)) {
    return;
  }
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    loop_.watch(doors_[i].fd, [this, i] { accept(doors_[i]); });
  }
}

void Doors::pause() {
  open_ = false;
  for (const Door& door : doors_) {
    loop_.unwatch(door.fd);
  }
}

void Doors::accept(const Door& door) {
  for (int i = 0; i < kAccepts; ++i) {
    Fd client(::accept4(door.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) {
      if (!is_passing(errno)) {  // out of descriptors or memory
        exhausted_ = true;
        pause();
        on_exhausted_();
      }
      return;
    }
    on_client_(std::move(client), door.access);
  }
}

}  // namespace berth
