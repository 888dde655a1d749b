// Conservative backfilling: the first thousand waiting jobs have a reservation each, the earliest
// that delays nobody before it. As long as estimates hold, reservations are made once and kept;
// when a job ends before its time or overstays, all of them are made anew, in order of submission.
// Jobs further back get theirs when some in front have started: each costs a look at all others, so
// a plan for a million of them would take hours.
#include <algorithm>
#include <map>
#include <set>

#include "policy/make.h"
#include "policy/profile.h"

namespace berth {
namespace {

constexpr std::size_t kMostReserved = 1000;
/// That want more than there is, as while a device is lost, and are passed over.
constexpr std::size_t kMostHopeless = 4000;

class Conservative final : public Policy {
 public:
  std::string_view name() const override { return "conservative"; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  void joined(const Job& job, const Needs& needs) override {
    waiting_[job.id] = {job.shape, amount_of(needs), length_of(job)};
    unplanned_.insert(job.id);
  }
  void left(const Job& job, const Needs&) override {
    const auto found = waiting_.find(job.id);
    planned_.erase({found->second.start, job.id});
    // What had no reservation leaves none behind.
    if (unplanned_.erase(job.id) + hopeless_.erase(job.id) == 0) {
      leaving_ = job.id;
    }
    waiting_.erase(found);
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    const Time end = add_saturating(now, length_of(job));
    running_[job.id] = {amount_of(needs), end, end};
    leaving_ = {};
  }
  void stopped(const Job& job, const Needs&, Time now) override {
    const auto found = running_.find(job.id);
    plan_again_ = plan_again_ || found->second.end != now;
    running_.erase(found);
  }

  PolicyBooks close_books() override {
    plan_again_ = true;
    PolicyBooks books;
    for (const auto& [id, job] : running_) {
      books.push_back(static_cast<std::int64_t>(id.value));
      books.push_back(job.due.time_since_epoch().count());
      books.push_back(job.end.time_since_epoch().count());
    }
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    if (books.size() != 3 * running_.size()) {
      return false;
    }
    auto next = books.begin();
    for (auto& [id, job] : running_) {
      if (*next++ != static_cast<std::int64_t>(id.value)) {
        return false;
      }
      job.due = Time(Duration(*next++));
      job.end = Time(Duration(*next++));
    }
    return true;
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
    Time due;  // as it was expected at its start
    Time end;  // as it is now
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
      reserve_more(view.now());
    }
    planned_at_ = view.now();
  }

  void plan_all(Time now, Amount all) {
    all_ = all;
    profile_ = Profile(now, all);
    for (auto& [id, job] : running_) {
      if (job.end <= now) {
        // It may end any moment; the longer it has overstayed, the less is made of the next one, or
        // a job that takes years would be planned around each second.
        const Duration overstayed = now - job.due;
        job.end = add_saturating(now, std::max<Duration>(std::chrono::seconds(1), overstayed));
      }
      profile_.take(now, job.end, job.amount);
    }
    for (const auto& [start, id] : planned_) {
      unplanned_.insert(id);
    }
    planned_.clear();
    unplanned_.merge(hopeless_);
    reserve_more(now);
    plan_again_ = late_ = false;
    leaving_ = {};
  }

  /// For the first that have none.
  void reserve_more(Time now) {
    while (!unplanned_.empty() && planned_.size() < kMostReserved &&
           hopeless_.size() < kMostHopeless) {
      const JobId id = *unplanned_.begin();
      unplanned_.erase(unplanned_.begin());
      reserve(id, waiting_.at(id), now);
    }
  }

  void reserve(JobId id, Waiting& job, Time now) {
    job.start = profile_.earliest(now, job.length, job.amount);
    if (job.start != kNever) {
      profile_.take(job.start, add_saturating(job.start, job.length), job.amount);
      planned_.insert({job.start, id});
    } else {
      hopeless_.insert(id);
    }
  }

  std::map<JobId, Waiting> waiting_;
  std::map<JobId, Running> running_;
  std::set<std::pair<Time, JobId>> planned_;
  std::set<JobId> unplanned_;  // those that have no reservation yet,
  std::set<JobId> hopeless_;   // and those that can have none
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
