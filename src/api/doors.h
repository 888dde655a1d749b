// Doors: the sockets that a server listens on. They let in a few clients at a time, so that other
// calls of the loop get their turn. They are shut while the system has no descriptors left, because
// the loop would spin.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/access.h"
#include "api/loop.h"
#include "api/sockets.h"
#include "base/fd.h"

namespace berth {

class Doors {
 public:
  /// Called for each client; `access` is null for a Unix socket.
  using OnClient = std::function<void(Fd client, const std::shared_ptr<const TcpAccess>& access)>;

  /// After a call of `on_exhausted` the doors stay shut until retry(). The loop outlives them.
  Doors(Loop& loop, OnClient on_client, Loop::Call on_exhausted);
  ~Doors() { close(); }
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  void add(UnixListener listener);
  void add(TcpListener listener, TcpAccess access);
  /// Opens the doors again if they were shut for lack of descriptors.
  void retry();
  /// Shuts the doors for good. The sockets are closed by the destructor.
  void close();

 private:
  struct Door {
    int fd;
    std::shared_ptr<const TcpAccess> access;
  };

  void add_door(int fd, std::shared_ptr<const TcpAccess> access);
  void open();
  void pause();
  void accept(const Door& door);

  Loop& loop_;
  const OnClient on_client_;
  const Loop::Call on_exhausted_;
  std::vector<UnixListener> unix_;
  std::vector<Fd> tcp_;
  std::vector<Door> doors_;
  bool open_ = false;       // doors are watched
  bool exhausted_ = false;  // the system has no descriptors left
};

}  // namespace berth
