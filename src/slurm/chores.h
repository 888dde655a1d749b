// Chores: work that may take long, such as a call of sbatch or a look at a slow file system. A
// thread of its own does one piece after the other, and leaves the rest of each to the owner's
// thread. Everything but the work itself happens on the owner's thread. In tests the work may
// happen there, too, as soon as it is added.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/fd.h"

namespace berth {

class Chores {
 public:
  /// What remains to be done on the owner's thread.
  using Finish = std::function<void()>;
  using Work = std::function<Finish()>;

  enum class Where { Thread, AtOnce };

  explicit Chores(Where where = Where::Thread);
  Chores(const Chores&) = delete;
  Chores& operator=(const Chores&) = delete;
  /// Drops what has not begun, and waits for the present piece: see stop_fd().
  ~Chores();

  void add(Work work);
  /// Pieces that have not been finished.
  std::size_t left() const { return left_; }

  /// Readable when finish() has something to call.
  int event_fd() const;
  void finish();

  /// Readable once the chores are to end: work that waits should watch it.
  int stop_fd() const;

 private:
  struct State;
  static void loop(State& state);

  std::unique_ptr<State> state_;
  std::size_t left_ = 0;
  std::thread thread_;
};

}  // namespace berth
