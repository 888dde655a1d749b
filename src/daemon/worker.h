// Worker: a thread for reading what would hold up the loop, one request after the other. Users take
// turns, and each may have only so much waiting. Work ends early when nobody wants its result any
// more, when its time is over, and with the worker: whoever does it asks its patience now and then.
// What the work has made may go on taking memory: the next begins when there is room again.
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
    std::shared_ptr<void> room;  // whoever goes on using memory keeps it
  };

  struct Task {
    uid_t user = 0;
    std::size_t bytes = 0;  // that it holds while it waits
    /// Whether nobody wants the result any more; asked by check().
    std::function<bool()> unwanted;
    std::function<void(const Turn&)> work;
  };

  struct Limits {
    std::size_t tasks = 16;                                     // of a user, waiting
    std::size_t user_bytes = std::size_t{32} << 20;             // likewise
    std::size_t bytes = std::size_t{64} << 20;                  // of all users
    Patience::Clock::duration time = std::chrono::seconds(30);  // for a task
  };

  Worker() : Worker(Limits()) {}
  explicit Worker(const Limits& limits);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Cancels the present task and waits for it; the others are dropped.
  ~Worker();

  /// An error when there is too much waiting already; then the task is dropped.
  Result<void> run(Task task);

  /// Cancels what nobody wants any more. On the thread that calls run().
  void check();

 private:
  struct State;
  static void loop(const std::shared_ptr<State>& held);

  std::shared_ptr<State> state_;  // rooms may outlive the worker
  std::thread thread_;
};

}  // namespace berth
