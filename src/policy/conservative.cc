// Conservative backfilling: every waiting job has a reservation, the earliest that delays nobody
// before it. As long as estimates hold, reservations are made once and kept; when a job ends before
// its time or overstays, all of them are made anew, in order of submission.
#include <algorithm>
#include <map>

#include "policy/make.h"
#include "policy/profile.h"

namespace berth {
namespace {

class Conservative final : public Policy {
 public:
  std::string_view name() const override { return "conservative"; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  void joined(const Job& job, const Needs& needs) override {
    waiting_[job.id] = {job.shape, amount_of(needs), length_of(job)};
    unplanned_.push_back(job.id);
  }
  void left(const Job& job, const Needs&) override {
    const auto found = waiting_.find(job.id);
    planned_.erase({found->second.start, job.id});
    waiting_.erase(found);
    leaving_ = job.id;
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    running_[job.id] = {amount_of(needs), add_saturating(now, length_of(job))};
    leaving_ = {};
  }
  void stopped(const Job& job, const Needs&, Time now) override {
    const auto found = running_.find(job.id);
    plan_again_ = plan_again_ || found->second.end != now;
    running_.erase(found);
  }

  std::optional<Proposal> propose(const View& view) override {
    plan(view);
    for (const auto& [start, id] : planned_) {
      if (start > view.now()) {
        break;
      }
      if (auto devices = view.place(waiting_.at(id).shape, {})) {
        return Proposal{id, std::move(*devices)};
      }
      late_ = true;  // somebody overstays, or the devices do not fit together
    }
    return std::nullopt;
  }

  Time next_look(const View& view) const override {
    const auto next = planned_.upper_bound({view.now(), JobId{UINT64_MAX}});
    return next == planned_.end() ? kNever : next->first;
  }

 private:
  struct Waiting {
    ShapeId shape;
    Amount amount = 0;
    Duration length{};
    Time start = kNever;
  };
  struct Running {
    Amount amount = 0;
    Time end;
  };

  /// Jobs of unknown length are reckoned with for a long time.
  static Duration length_of(const Job& job) {
    constexpr Duration kLong = std::chrono::hours(24 * 365);
    return std::max(std::min({job.expected_left(), job.limit, kLong}), Duration{1});
  }

  void plan(const View& view) {
    const Amount all = pool_size(view.devices());
    // A reservation that could not be kept, or one that was given up unused, makes room or takes
    // it.
    if (plan_again_ || all != all_ || leaving_ != JobId{} || (late_ && view.now() > planned_at_)) {
      plan_all(view.now(), all);
    } else {
      profile_.forget_before(view.now());
      for (const JobId id : unplanned_) {
        if (const auto found = waiting_.find(id); found != waiting_.end()) {
          reserve(id, found->second, view.now());
        }
      }
    }
    unplanned_.clear();
    planned_at_ = view.now();
  }

  void plan_all(Time now, Amount all) {
    all_ = all;
    profile_ = Profile(now, all);
    for (auto& [id, job] : running_) {
      if (job.end <= now) {
        job.end = now + std::chrono::seconds(1);  // it may end any moment
      }
      profile_.take(now, job.end, job.amount);
    }
    planned_.clear();
    for (auto& [id, job] : waiting_) {
      reserve(id, job, now);
    }
    plan_again_ = late_ = false;
    leaving_ = {};
  }

  void reserve(JobId id, Waiting& job, Time now) {
    job.start = profile_.earliest(now, job.length, job.amount);
    if (job.start != kNever) {
      profile_.take(job.start, add_saturating(job.start, job.length), job.amount);
      planned_.insert({job.start, id});
    }
  }

  std::map<JobId, Waiting> waiting_;
  std::map<JobId, Running> running_;
  std::set<std::pair<Time, JobId>> planned_;
  std::vector<JobId> unplanned_;
  Profile profile_{Time{}, 0};
  Amount all_ = 0;
  Time planned_at_{};
  JobId leaving_;  // left the queue without a start
  bool plan_again_ = true;
  bool late_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_conservative() { return std::make_unique<Conservative>(); }

}  // namespace berth
