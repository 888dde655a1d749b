// JournalPlayer: tells a fresh scheduler what a journal says, by the same door as a live one is
// told. It begins with the first restart or checkpoint that it meets, and passes over what is
// before. A journal may hold anything: what makes no sense is an error, never the end of the
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
  /// An error: the journal is not what a live scheduler was told, and there is no going on.
  Result<void> take(const JournalInput& input, Time at);

  /// Absent: no restart has come yet, and no checkpoint that is done.
  const Scheduler* scheduler() const { return told_ ? &told_->get() : nullptr; }
  /// When the scheduler began to decide; what was decided at that very moment is not its doing.
  Time began() const { return began_; }
  /// What the last input made it decide.
  const std::vector<Action>& actions() const { return actions_; }
  /// What the live scheduler did with the last input and this one does not: why a command was
  /// refused, or in what a checkpoint differs. Empty: nothing.
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
