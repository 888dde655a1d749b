// MpsDaemon: one MPS control daemon in its place: its process, if it has one, and the command about
// it or its place that runs beside. One command runs at a time.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/user.h"
#include "gpu/mps/mps_place.h"
#include "gpu/mps/mps_process.h"
#include "gpu/mps/mps_waits.h"

namespace berth {

class MpsDaemon {
 public:
  using Clock = MpsWaits::Clock;
  enum class Asked { ToMakePlace, WhoIsThere, WhetherReady, WhetherUsed, ToQuit, ToRemovePlace };
  /// What has run longer is killed.
  static constexpr auto kCommandPatience = std::chrono::seconds(10);

  /// `program` is nvidia-cuda-mps-control, empty while it has not been found. It and `waits` are
  /// borrowed.
  MpsDaemon(MpsPlace place, const std::string& program, const MpsWaits& waits);

  const MpsPlace& place() const { return place_; }
  /// What a process of the place's user must be.
  void know_user(UserIdentity identity) { place_.identity = std::move(identity); }

  /// Starts a process, in a place that has been made.
  Result<void> start();
  /// It is another berth's, and found in its place.
  void adopt(MpsProcess process);
  /// Whether the process was there and is not any more.
  bool has_ended() const;
  /// The last words of a process that has ended. There is none from here on.
  std::string bury();
  /// To the process and all that it has started.
  void signal(int signal) const { signal_control(*process_, signal); }

  /// Starts a command. The one before must have been taken.
  Result<void> ask(Asked what);
  Asked asked() const { return asked_; }
  bool is_busy() const { return command_.has_value(); }
  /// The command, once it has ended.
  std::optional<MpsProcess> take_answer();
  /// When the command has run too long; max(): there is none, or it has been killed.
  Clock::time_point deadline() const;
  void end_late_command(Clock::time_point now);

 private:
  Result<MpsProcess> command_for(Asked what) const;

  MpsPlace place_;
  const std::string& program_;
  const MpsWaits& waits_;
  std::optional<MpsProcess> process_;
  std::optional<MpsProcess> command_;
  Asked asked_ = Asked::ToMakePlace;
  Clock::time_point deadline_{};
};

}  // namespace berth
