// ToldScheduler: a live scheduler behind its one door. Whatever the scheduler is told goes through
// tell(), which applies it and hands it to the journal. So nothing is applied that a replay would
// miss, and a replay goes through the same door. Owned by one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/journal_input.h"
#include "core/scheduler.h"

namespace berth {

class ToldScheduler {
 public:
  /// Called for everything that the scheduler is told, in order. None: nothing is written down.
  using Journal = std::function<void(const JournalInput&, Time)>;

  /// `begun` names the policy, as a replay is to make it.
  ToldScheduler(std::unique_ptr<Policy> policy, const Restarted& begun, Time at,
                Journal journal = nullptr);

  /// Commands may be refused: then they are not written down. Facts cannot be.
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
  /// Submissions in a row become one entry of the journal, as do jobs that are restored in a row.
  Result<JobId> tell(const Submit& command, Time at);
  void tell(const Restore& command, Time at);
  /// `before`: what the job asked for until now.
  Result<void> tell(const Edit& command, const JobSpec& before, Time at);

  DeviceId add_device(DeviceSpec spec, Time at);
  void set_policy(std::unique_ptr<Policy> policy, const PolicyChanged& change, Time at);

  /// Decides, see Scheduler::step().
  const std::vector<Action>& step(Time at);
  void forget(JobId job) { scheduler_.forget(job); }

  /// Whether it was told something since it last decided.
  bool has_news() const { return news_; }
  /// To look, never to change.
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
  void note(JournalInput input, Time at);
  void write_row();

  Scheduler scheduler_;
  Journal journal_;
  std::optional<JournalInput> row_;  // Submitted or Restored: more of them may follow
  Time row_time_{};
  bool news_ = true;
};

}  // namespace berth
