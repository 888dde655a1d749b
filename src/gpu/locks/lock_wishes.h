// LockWishes: hears when other berth instances ask for devices. Who asks makes a file in the lock
// folder (device_locks.h), whether or not the device can be had, so a file that is made is a wish.
// Owned by one thread.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"

namespace berth {

class LockWishes {
 public:
  /// Hears nothing where the kernel gives no watch.
  LockWishes();

  /// Watches this folder, too.
  void follow(const Fd& folder);
  bool hears() const { return hears_; }

  /// Readable when take() has something.
  int event_fd() const { return events_.get(); }
  struct Made {
    std::vector<std::string> names;  // of files that were made
    bool missed = false;             // there were more than the kernel could note
  };
  Made take();

 private:
  Fd events_;
  bool hears_ = false;
};

}  // namespace berth
