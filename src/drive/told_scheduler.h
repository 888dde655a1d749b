// ToldScheduler: a live scheduler behind a single interface. Everything that the scheduler is told
// goes through tell(), which applies it and passes it to the journal. So nothing is applied that a
// replay would miss, and a replay goes through the same interface. Owned by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/journal_input.h"
#include "core/scheduler.h"
#include "drive/checkpoint.h"
#include "drive/journal_rows.h"

namespace berth {

class ToldScheduler {
 public:
  /// Called for everything that the scheduler is told, in order. Empty: nothing is recorded.
  using Journal = JournalRows::Write;

  /// `begun` names the policy, as a replay must make it.
  ToldScheduler(std::unique_ptr<Policy> policy, const Restarted& begun, Time at,
                Journal journal = nullptr);

  /// Commands may be refused, and are not recorded then. Facts cannot be refused.
  template <class Input>
  auto tell(const Input& input, Time at) {
    if constexpr (std::is_same_v<decltype(apply(input, at)), void>) {
      note(input, at);
      apply(input, at);
    } else {
      Result<void> done = apply(input, at);
      if (done) {
        note(input, at);
      }
      return done;
    }
  }
  /// Consecutive submissions that are alike become one entry of the journal. So do consecutive
  /// restored jobs that are alike.
  Result<JobId> tell(const Submit& command, Time at);
  void tell(const Restore& command, Time at);
  /// The last part of a checkpoint. Only CheckpointReader may tell it.
  Result<void> tell(const SchedulerBooks& books, Time at);

  DeviceId add_device(DeviceSpec spec, Time at);
  void set_policy(std::unique_ptr<Policy> policy, const PolicyChanged& change, Time at);

  /// Decides, see Scheduler::step().
  const std::vector<Action>& step(Time at);
  void forget(JobId job) { scheduler_.forget(job); }

  /// Writes a checkpoint into the journal, see checkpoint.h. Each call writes up to `most` jobs,
  /// and must come between decisions. True when the checkpoint is done. A change of policy makes it
  /// begin anew.
  void begin_checkpoint(Time at);
  bool continue_checkpoint(std::size_t most, Time at);
  /// A replay calls this where the live scheduler came to the end of a checkpoint.
  SchedulerBooks close_books() { return scheduler_.close_books(); }

  /// Whether the scheduler was told something since it last decided.
  bool has_news() const { return news_; }
  /// For reading only.
  const Scheduler& get() const { return scheduler_; }
  const Scheduler* operator->() const { return &scheduler_; }

 private:
  template <class Input>
  auto apply(const Input& input, Time at) {
    if constexpr (requires { scheduler_.apply(input, at); }) {
      return scheduler_.apply(input, at);
    } else {
      return scheduler_.apply(input);
    }
  }
  template <class Input>
  void note(const Input& input, Time at) {
    news_ = true;
    if (rows_.writes()) {
      rows_.add(input, at);
    }
  }

  Scheduler scheduler_;
  JournalRows rows_;
  std::string policy_;  // as a replay must make it
  std::optional<CheckpointWriter> checkpoint_;
  bool news_ = true;
};

}  // namespace berth
