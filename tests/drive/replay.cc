#include "drive/replay.h"

#include <algorithm>
#include <memory>

#include "core/scenario_words.h"
#include "drive/told_scheduler.h"
#include "policy/policies.h"

namespace berth {
namespace {

class Replaying {
 public:
  Replayed run(const std::vector<Told>& journal) {
    for (const Told& told : journal) {
      at_ = told.at;
      std::visit([this](const auto& input) { take(input); }, told.input);
    }
    return std::move(replayed_);
  }

 private:
  void take(const Restarted& input) {
    scheduler_ = std::make_unique<ToldScheduler>(must(make_live_policy(input.policy)), input, at_,
                                                 [this](const JournalInput& entry, Time at) {
                                                   replayed_.told.push_back({entry, at});
                                                 });
  }
  void take(const Submit& input) { (void)must(scheduler_->tell(input, at_)); }
  void take(const Restored& input) {
    input.for_each([this](const Restore& job) { scheduler_->tell(job, at_); });
  }
  // Nobody writes checkpoints here.
  void take(const CheckpointBegun&) {}
  void take(const JobsGone&) {}
  void take(const CheckpointDone&) {}
  void take(const DeviceAdded& input) { scheduler_->add_device(input.device, at_); }
  void take(const PolicyChanged& input) {
    scheduler_->set_policy(must(make_live_policy(input.policy)), input, at_);
  }
  void take(const StartRefused& input) {
    scheduler_->tell(input, at_);
    if (!input.taken.empty()) {
      // Its last one.
      const auto refused =
          std::find_if(replayed_.starts.rbegin(), replayed_.starts.rend(),
                       [&](const StartJob& start) { return start.job == input.job; });
      replayed_.starts.erase(std::next(refused).base());
    }
  }
  void take(const Stepped&) {
    for (const Action& action : scheduler_->step(at_)) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        replayed_.starts.push_back(*start);
      } else if (const auto* ended = std::get_if<JobEnded>(&action)) {
        scheduler_->forget(ended->job);
      }
    }
  }
  template <class Input>
  void take(const Input& input) {
    if constexpr (std::is_same_v<decltype(scheduler_->tell(input, at_)), void>) {
      scheduler_->tell(input, at_);
    } else {
      must_do(scheduler_->tell(input, at_));
    }
  }

  std::unique_ptr<ToldScheduler> scheduler_;
  Time at_{};
  Replayed replayed_;
};

struct KindOf {
  std::string operator()(const Reclaim&) const { return "reclaim"; }
  std::string operator()(const Reestimate&) const { return "reestimate"; }
  std::string operator()(const JobUse&) const { return "use"; }
  std::string operator()(const JobLost&) const { return "lost"; }
  std::string operator()(const JobExited&) const { return "exited"; }
  std::string operator()(const ForeignUse&) const { return "foreign"; }
  std::string operator()(const DeviceTaken&) const { return "taken"; }
  std::string operator()(const StartRefused&) const { return "refused"; }
  std::string operator()(const DeviceChanged&) const { return "device"; }
  std::string operator()(const PolicyChanged&) const { return "policy"; }
  std::string operator()(const Submit&) const { return "submitted"; }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

std::string told_kind(const JournalInput& input) { return std::visit(KindOf{}, input); }

Replayed replay(const std::vector<Told>& journal) { return Replaying().run(journal); }

}  // namespace berth
