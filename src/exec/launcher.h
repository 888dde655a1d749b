// The launcher: one small process that forks a shim per request. The daemon forks it while the
// daemon itself is small and has one thread. The launcher has nothing to save: it ends when the
// daemon's end of its socket closes, and the daemon starts another when it is killed. Shims do not
// notice either.
//
// The launcher, and each shim that has not yet recorded its attempt, holds a lock on the folder's
// file "launcher". So does the daemon, for the requests that it sends to shims itself: the lock
// goes along. A process that gets this lock therefore knows that the folder has a record of every
// attempt that a shim was asked for.
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
  // As numbered in the daemon; the launcher moves them.
  int requests = -1;
  int messages = -1;
  int folder = -1;
  int daemon = -1;
  std::string boot_id;
};

/// Runs the forked child to its end. Nothing may unwind into the daemon's own frames below.
[[noreturn]] void run_launcher(const LauncherSetup& setup) noexcept;

}  // namespace berth
