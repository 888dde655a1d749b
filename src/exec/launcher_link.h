// The daemon's end of the launcher: starts it, hands it requests without ever blocking, and gives
// out what it and the newborn shims say. Who owns it notices that the launcher died by
// Receive::Closed.
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

  /// Forks a launcher for this folder; the one before must be closed.
  Result<void> open(int folder);
  /// The launcher goes as soon as it has answered what it is about, and takes no more requests.
  /// When the last of its newborn shims has gone its way, Receive::Closed says so.
  void retire();
  /// Ends the launcher, if it lives. Newborn shims go on.
  void close();
  bool is_open() const { return static_cast<bool>(messages_); }

  int requests_fd() const { return requests_.get(); }
  int messages_fd() const { return messages_.get(); }

  /// Whether the launcher says within this time that it serves.
  bool wait_until_ready(std::chrono::milliseconds patience);

  void send(std::string request);
  /// Sends on what the socket did not take; call it when requests_fd() is writable.
  void flush();
  bool is_behind() const { return !waiting_.empty(); }

  Receive receive(ReceivedMessage& received);

 private:
  std::string boot_id_;
  rlimit open_files_{};  // as it was for this process at first; what it allows itself later is not
                         // for jobs, of which some rely on small descriptors
  Fd requests_;
  Fd messages_;
  Fd process_;
  std::deque<std::string> waiting_;
  std::size_t sent_ = 0;  // of the first that waits
};

}  // namespace berth
