// ChaosKiller: sends SIGKILL to the daemon, its launchers and the shims at random moments of a
// chaos round. Runs on its own thread.
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

/// Sends SIGKILL to the daemon of this home, if one runs, and waits until it is gone.
bool kill_daemon(const std::string& home);

class ChaosKiller {
 public:
  struct Plan {
    std::string home;
    std::string mark;                 // "NAME=value", in the environment of all possible victims
    std::uint32_t kills = 0;          // of each kind
    std::chrono::milliseconds pause;  // between two kills of a kind, approximately
    std::uint64_t seed = 0;
  };
  /// Starts killing at once.
  explicit ChaosKiller(Plan plan);
  ~ChaosKiller() { stop(); }
  ChaosKiller(const ChaosKiller&) = delete;
  ChaosKiller& operator=(const ChaosKiller&) = delete;

  void stop();

  // Valid only after stop().
  std::uint32_t daemons_left() const { return left_[kDaemon]; }  // kills not made
  std::uint32_t launchers() const { return plan_.kills - left_[kLauncher]; }
  std::uint32_t shims() const { return plan_.kills - left_[kShim]; }
  /// The attempts whose shims were killed. How these attempts ended may be unknown.
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
  std::thread thread_;  // last: it uses the other members
};

}  // namespace berth
