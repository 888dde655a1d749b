// Loop: the daemon's one thread. Descriptors, timers and HTTP sessions call back on it; only post()
// may be called from another thread. This header hides Asio.
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

  /// Runs until stop(). After each batch of calls, before it sleeps, it calls `before_wait`: the
  /// place to commit once for everything that the batch did. A batch is bounded, so a flood of
  /// calls cannot put the commit off. HTTP answers given in a batch leave after its `before_wait`,
  /// never earlier: an answer that a client has seen is committed.
  /// `after_turn`, if set, gets the length of each turn: from the first call of its batch until the
  /// answers have left, without the time asleep.
  void run(Call before_wait, std::function<void(Duration)> after_turn = {});
  /// run() ends after the current batch, its `before_wait` and its answers.
  void stop();

  /// From any thread.
  void post(Call call);

  /// Calls `on_readable` while `fd` can be read (or has hung up), until unwatch(). The caller keeps
  /// the descriptor and must unwatch it before closing it. A descriptor has one watch.
  void watch(int fd, Call on_readable);
  /// May be called from within `on_readable`. Does nothing if `fd` is not watched.
  void unwatch(int fd);

  /// One alarm; setting it again replaces it. kForever: none.
  void set_alarm(Duration from_now, Call call);

  struct Native;
  Native& native() { return *native_; }

 private:
  std::unique_ptr<Native> native_;
};

}  // namespace berth
