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
  Replaying(const std::map<JobId, JobSpec>& submitted, const std::vector<Restore>& restored)
      : submitted_(submitted), restored_(restored) {}

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
  void take(const Submitted& input) {
    for (std::uint32_t i = 0; i < input.count; ++i) {
      const JobId id{input.first.value + i};
      (void)must(scheduler_->tell(Submit{submitted_.at(id), id, 1, true}, at_));
    }
  }
  void take(const Restored& input) {
    for (std::uint32_t i = 0; i < input.count; ++i) {
      scheduler_->tell(restored_.at(next_restored_++), at_);
    }
  }
  void take(const Edited& input) {
    must_do(scheduler_->tell(Edit{input.job, input.after}, input.before, at_));
  }
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

  const std::map<JobId, JobSpec>& submitted_;
  const std::vector<Restore>& restored_;
  std::size_t next_restored_ = 0;
  std::unique_ptr<ToldScheduler> scheduler_;
  Time at_{};
  Replayed replayed_;
};

struct KindOf {
  std::string operator()(const Reclaim&) const { return "reclaim"; }
  std::string operator()(const JobUse&) const { return "use"; }
  std::string operator()(const JobLost&) const { return "lost"; }
  std::string operator()(const JobExited&) const { return "exited"; }
  std::string operator()(const ForeignUse&) const { return "foreign"; }
  std::string operator()(const DeviceTaken&) const { return "taken"; }
  std::string operator()(const StartRefused&) const { return "refused"; }
  std::string operator()(const DeviceChanged&) const { return "device"; }
  std::string operator()(const PolicyChanged&) const { return "policy"; }
  std::string operator()(const Submitted&) const { return "submitted"; }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

std::string told_kind(const JournalInput& input) { return std::visit(KindOf{}, input); }

Replayed replay(const std::vector<Told>& journal, const std::map<JobId, JobSpec>& submitted,
                const std::vector<Restore>& restored) {
  return Replaying(submitted, restored).run(journal);
}

}  // namespace berth
