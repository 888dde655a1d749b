// Poller: waits on descriptors and calls the handler of each readable one. One thread.
#pragma once

#include <functional>
#include <unordered_map>

#include "base/fd.h"
#include "base/time.h"

namespace berth {

class Poller {
 public:
  using Handler = std::function<void()>;

  Poller();

  /// Calls `on_readable` whenever `fd` can be read or has hung up. False for a descriptor that
  /// cannot be waited on, such as a regular file.
  bool add(int fd, Handler on_readable);
  void remove(int fd);

  /// Waits until a descriptor is readable or `timeout` has passed (kForever: no limit), then calls
  /// the handlers of the readable descriptors.
  void wait(Duration timeout);

 private:
  Fd epoll_;
  std::unordered_map<int, Handler> handlers_;
};

}  // namespace berth
