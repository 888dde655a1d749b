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
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Until stop(). After each batch of calls, before it sleeps, it calls `before_wait`: the place
  /// to commit once for all that the batch did. A batch is bounded, so a flood of calls cannot put
  /// the commit off. HTTP answers given in a batch leave after its `before_wait`, never earlier: an
  /// answer that a client has seen is committed.
  /// `after_turn`, if any, is told how long each turn took: from the first call of its batch until
  /// the answers have left, without the time asleep.
  void run(Call before_wait, std::function<void(Duration)> after_turn = {});
  /// run() ends after the present batch, its `before_wait` and the answers to it.
  void stop();

  /// From any thread.
  void post(Call call);

  /// Calls `on_readable` while `fd` can be read (or has hung up), until unwatch(). The descriptor
  /// stays the caller's, who unwatches it before closing it. A descriptor has one watch.
  void watch(int fd, Call on_readable);
  /// Also from within `on_readable`. Nothing happens if `fd` is not watched.
  void unwatch(int fd);

  /// One alarm; setting it again replaces it. kForever: none.
  void set_alarm(Duration from_now, Call call);

  struct Native;
  Native& native() { return *native_; }

 private:
  std::unique_ptr<Native> native_;
};

}  // namespace berth
