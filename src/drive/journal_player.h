// JournalPlayer: tells a fresh scheduler what a journal says, through the same interface as a live
// one. It begins with the first restart or checkpoint in the journal, and skips everything before
// that. A journal may hold anything: input that makes no sense is an error, never the end of the
// program.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drive/checkpoint.h"
#include "drive/told_scheduler.h"

namespace berth {

class JournalPlayer {
 public:
  /// An error means that the journal is not what a live scheduler was told, and that playing cannot
  /// go on.
  Result<void> take(const JournalInput& input, Time at);

  /// Null until a restart or a finished checkpoint has come.
  const Scheduler* scheduler() const { return told_ ? &told_->get() : nullptr; }
  /// When the scheduler began to decide. Decisions of that very moment are not its own.
  Time began() const { return began_; }
  /// The decisions that the last input caused.
  const std::vector<Action>& actions() const { return actions_; }
  /// How this scheduler differs from the live one in the last input: why it refused a command, or
  /// how a checkpoint differs. Empty when they agree.
  const std::string& refusal() const { return refusal_; }

 private:
  Result<void> play(const Submit& input, Time at);
  Result<void> play(const Restored& input, Time at);
  Result<void> play(const Restarted& input, Time at);
  Result<void> play(const PolicyChanged& input, Time at);
  Result<void> play(const DeviceAdded& input, Time at);
  Result<void> play(const Stepped& input, Time at);
  Result<void> play(const CheckpointBegun& input, Time at);
  Result<void> play(const JobsGone& input, Time at);
  Result<void> play(const CheckpointDone& input, Time at);
  template <class Input>
  Result<void> play(const Input& input, Time at);

  Result<void> begin(std::unique_ptr<ToldScheduler> told, Time at);

  bool is_there(DeviceId device) const;
  bool has_devices(JobId job) const;
  bool is_starting(JobId job) const;
  bool has_room(JobId first, std::uint64_t jobs) const;
  template <class Input>
  bool makes_sense(const Input& input) const;

  std::unique_ptr<ToldScheduler> told_;
  std::optional<CheckpointReader> checkpoint_;  // while there is no scheduler
  Time began_ = kNever;
  std::vector<Action> actions_;
  std::string refusal_;
};

}  // namespace berth
