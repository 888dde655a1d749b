// LockWaits: reports when a device lock may be worth another try, because its file is unlocked or a
// time has passed. Owned by one thread.
//
// For each place that another berth instance has, a thread blocks in flock() on the file that
// stands in the way, with a descriptor for reading. A watch on the file would not do, because the
// kernel announces that a file was closed before it drops the lock on it.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

class LockWaits {
 public:
  static Result<std::unique_ptr<LockWaits>> make();

  /// Waits, in a thread, until no other process has a lock on `file`. Each place has one thread,
  /// however many files follow each other. If a thread already waits for the place, the place is
  /// due for another look after a while instead.
  Result<void> await(std::size_t place, Fd file);
  void after(std::size_t place, std::chrono::milliseconds delay);

  /// Makes event_fd() readable when this descriptor is, too. Not for LockWaits to read.
  void include(int fd) const;
  /// Readable when take() has something.
  int event_fd() const { return events_.get(); }
  std::vector<std::size_t> take();

 private:
  using Moment = std::chrono::steady_clock::time_point;
  /// Filled by the threads; they may outlive this object.
  struct Mailbox;

  LockWaits() = default;
  void set_timer() const;

  std::shared_ptr<Mailbox> mailbox_;
  Fd timer_;
  Fd events_;                      // an epoll of both
  std::set<std::size_t> awaited_;  // places for which a thread waits
  std::map<std::size_t, Moment> later_;
};

}  // namespace berth
