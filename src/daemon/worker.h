// Worker: a thread that reads requests which would hold up the loop, one after the other. Users
// take turns, and the waiting work of each user is limited. A task ends early when its result is no
// longer wanted, when its time is over, or when the worker ends. For this, the task checks its
// patience now and then. The result of a task may go on using memory: the next task begins when
// there is room again.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "base/patience.h"
#include "base/result.h"

namespace berth {

class Worker {
 public:
  struct Turn {
    Patience patience;
    std::shared_ptr<void> room;  // kept as long as the result uses memory
  };

  struct Task {
    uid_t user = 0;
    std::size_t bytes = 0;  // held while the task waits
    /// Whether the result is no longer wanted. Called by check().
    std::function<bool()> unwanted;
    std::function<void(const Turn&)> work;
  };

  struct Limits {
    std::size_t tasks = 16;                                     // of a user, waiting
    std::size_t user_bytes = std::size_t{32} << 20;             // of a user, waiting
    std::size_t bytes = std::size_t{64} << 20;                  // of all users, waiting
    Patience::Clock::duration time = std::chrono::seconds(30);  // for a task
  };

  Worker() : Worker(Limits()) {}
  explicit Worker(const Limits& limits);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Cancels the present task and waits for it. Drops the other tasks.
  ~Worker();

  /// Fails, and drops the task, if too much is waiting already.
  Result<void> run(Task task);

  /// Cancels tasks whose results are no longer wanted. Call it on the thread that calls run().
  void check();

 private:
  struct State;
  static void loop(const std::shared_ptr<State>& held);

  std::shared_ptr<State> state_;  // shared, because a room may outlive the worker
  std::thread thread_;
};

}  // namespace berth
