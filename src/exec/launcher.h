// The launcher: one small process, forked by the daemon while that is small and has one thread,
// that forks a shim per request. It has nothing to save: when the daemon's end of its socket closes
// it ends, and when it is killed the daemon starts another. Shims do not notice either.
//
// The folder's file "launcher" is locked by the launcher and by each shim that has not yet written
// down who it is. So whoever gets that lock knows that the folder tells of every shim there is.
#pragma once

#include <string>

namespace berth {

/// Descriptors of the launcher and of newborn shims have fixed numbers. None reaches a job.
enum LauncherFd : int {
  kRequestsFd = 3,
  kMessagesFd = 4,
  kFolderFd = 5,
  kDaemonFd = 6,  // a process descriptor: whether the daemon still lives
  kLauncherLockFd = 7,
};

constexpr const char* kLauncherLockFile = "launcher";

struct LauncherSetup {
  // In the daemon's numbers; the launcher moves them.
  int requests = -1;
  int messages = -1;
  int folder = -1;
  int daemon = -1;
  std::string boot_id;
};

/// What the forked child does, to its end: nothing may unwind into the daemon's own frames below.
[[noreturn]] void run_launcher(const LauncherSetup& setup) noexcept;

}  // namespace berth
