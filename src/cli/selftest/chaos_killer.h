// The hand that kills in a chaos round: SIGKILL for the daemon, its launchers and the shims at
// random moments, from a thread of its own.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "base/random.h"
#include "cli/selftest/chaos_ledger.h"

namespace berth {

/// SIGKILL for the daemon of this home, if there is one. It is gone when this returns.
bool kill_daemon(const std::string& home);

class ChaosKiller {
 public:
  struct Plan {
    std::string home;
    std::string mark;                 // "NAME=value", of all that may be killed
    std::uint32_t kills = 0;          // of each kind
    std::chrono::milliseconds pause;  // between two of a kind, about
    std::uint64_t seed = 0;
  };
  /// Begins at once.
  explicit ChaosKiller(Plan plan);
  ~ChaosKiller() { stop(); }
  ChaosKiller(const ChaosKiller&) = delete;
  ChaosKiller& operator=(const ChaosKiller&) = delete;

  void stop();

  // To be asked when it has stopped.
  std::uint32_t daemons_left() const { return left_[kDaemon]; }  // kills that it did not come to
  std::uint32_t launchers() const { return plan_.kills - left_[kLauncher]; }
  std::uint32_t shims() const { return plan_.kills - left_[kShim]; }
  /// The attempts whose shims it has killed: how they ended, nobody may know.
  const OrphanedAttempts& orphaned() const { return orphaned_; }

 private:
  enum Victim : std::size_t { kDaemon, kLauncher, kShim };

  void run();
  bool kill(Victim victim);
  bool kill_launcher();
  bool kill_shim();

  const Plan plan_;
  Random random_;
  std::array<std::uint32_t, 3> left_;
  OrphanedAttempts orphaned_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace berth
