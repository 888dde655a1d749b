// The daemon's end of the launcher. It starts the launcher, hands it requests without ever
// blocking, and passes on the messages of the launcher and the newborn shims. Receive::Closed tells
// the owner of the link that the launcher has died.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <deque>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "exec/shim_wire.h"

namespace berth {

class LauncherLink {
 public:
  explicit LauncherLink(std::string boot_id) : boot_id_(std::move(boot_id)) {
    ::getrlimit(RLIMIT_NOFILE, &open_files_);
  }
  ~LauncherLink() { close(); }
  LauncherLink(const LauncherLink&) = delete;
  LauncherLink& operator=(const LauncherLink&) = delete;

  /// Forks a launcher for this folder; the previous launcher must be closed.
  Result<void> open(int folder);
  /// Makes the launcher end as soon as it has answered its current request. It takes no more
  /// requests. Receive::Closed follows when the last of its newborn shims is on its own.
  void retire();
  /// Ends the launcher, if it lives. Newborn shims go on.
  void close();
  bool is_open() const { return static_cast<bool>(messages_); }

  int requests_fd() const { return requests_.get(); }
  int messages_fd() const { return messages_.get(); }
  /// Shares the launcher's lock; -1 until the launcher serves.
  int lock_fd() const { return lock_.get(); }

  /// Whether the launcher reports within this time that it serves.
  bool wait_until_ready(std::chrono::milliseconds patience);

  void send(std::string request);
  /// Sends the rest of what the socket did not take. Call it when requests_fd() is writable.
  void flush();
  bool is_behind() const { return !waiting_.empty(); }

  Receive receive(ReceivedMessage& received);

 private:
  std::string boot_id_;
  rlimit open_files_{};  // this process's first limit; jobs do not get the higher one that it sets
                         // itself later, because some rely on small descriptors
  Fd requests_;
  Fd messages_;
  Fd lock_;
  Fd process_;
  std::deque<std::string> waiting_;
  std::size_t sent_ = 0;  // of the first waiting request
};

}  // namespace berth
