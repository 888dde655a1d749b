// Loop: the daemon's one thread. Descriptors, timers and HTTP sessions call back on it; only post()
// may be called from elsewhere. Asio stays behind this header.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"

namespace berth {

class Loop {
 public:
  using Call = std::function<void()>;

  Loop();
  ~Loop();

  /// Until stop(). After each batch of calls, before it sleeps, it calls `before_wait`: the place
  /// to commit once for all that the batch did.
  void run(Call before_wait);
  void stop();

  /// From any thread.
  void post(Call call);

  /// Calls `on_readable` while `fd` can be read, until unwatch(). The descriptor stays the
  /// caller's.
  void watch(int fd, Call on_readable);
  void unwatch(int fd);

  /// One alarm; setting it again replaces it. kForever: none.
  void set_alarm(Duration from_now, Call call);

  struct Native;
  Native& native() { return *native_; }

 private:
  std::unique_ptr<Native> native_;
};

}  // namespace berth
