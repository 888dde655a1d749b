// Conservative backfilling: the first thousand waiting jobs have a reservation each, the earliest
// that delays nobody before it. As long as estimates hold, reservations are made once and kept;
// when a job ends before its time or overstays, all of them are made anew, in order of submission.
// Jobs further back get theirs when some in front have started: each costs a look at all others, so
// a plan for a million of them would take hours.
#include <algorithm>
#include <map>

#include "policy/make.h"
#include "policy/reservations.h"

namespace berth {
namespace {

/// Jobs of unknown length are reckoned with for a long time.
Duration planned_length(const Job& job) {
  constexpr Duration kLong = std::chrono::hours(24 * 365);
  return std::max(std::min({job.expected_left(), job.limit, kLong}), Duration{1});
}

/// The running jobs and when each is expected to end, which moves when it overstays.
class MovingEnds {
 public:
  void add(const Job& job, const Needs& needs, Time now) {
    const Time end = add_saturating(now, planned_length(job));
    running_[job.id] = {amount_of(needs), end, end};
  }
  /// Returns whether the job has ended just when it was expected to.
  bool remove(JobId id, Time now) {
    const auto found = running_.find(id);
    const bool in_time = found->second.end == now;
    running_.erase(found);
    return in_time;
  }

  PolicyBooks books() const {
    PolicyBooks books;
    for (const auto& [id, job] : running_) {
      books.push_back(static_cast<std::int64_t>(id.value));
      books.push_back(job.due.time_since_epoch().count());
      books.push_back(job.end.time_since_epoch().count());
    }
    return books;
  }
  /// False where the books are not of the jobs that run.
  bool take_books(const PolicyBooks& books) {
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

  /// Takes what each job has out of the pool until its end, which moves first if it is past.
  void block(Reservations& reservations, Time now) {
    for (auto& [id, job] : running_) {
      if (job.end <= now) {
        // It may end any moment; the longer it has overstayed, the less is made of the next one, or
        // a job that takes years would be planned around each second.
        const Duration overstayed = now - job.due;
        job.end = add_saturating(now, std::max<Duration>(std::chrono::seconds(1), overstayed));
      }
      reservations.block(now, job.end, job.amount);
    }
  }

 private:
  struct Stay {
    Amount amount = 0;
    Time due;  // as it was expected at its start
    Time end;  // as it is now
  };

  std::map<JobId, Stay> running_;
};

class Conservative final : public Policy {
 public:
  std::string_view name() const override { return "conservative"; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  void joined(const Job& job, const Needs& needs) override {
    reservations_.join(job.id, {job.shape, amount_of(needs), planned_length(job)});
  }
  void left(const Job& job, const Needs&) override {
    if (reservations_.leave(job.id)) {
      leaving_ = job.id;
    }
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    running_.add(job, needs, now);
    leaving_ = {};
  }
  void stopped(const Job& job, const Needs&, Time now) override {
    const bool in_time = running_.remove(job.id, now);
    plan_again_ = plan_again_ || !in_time;
  }

  PolicyBooks close_books() override {
    plan_again_ = true;
    return running_.books();
  }
  bool take_books(const PolicyBooks& books) override { return running_.take_books(books); }

  std::optional<Proposal> propose(const View& view) override {
    plan(view);
    for (const auto& [start, id] : reservations_.in_order()) {
      if (start > view.now()) {
        break;
      }
      if (auto devices = view.place(reservations_.shape_of(id), {})) {
        return Proposal{id, std::move(*devices)};
      }
      late_ = true;  // somebody overstays, or the devices do not fit together
    }
    return std::nullopt;
  }

  Time next_look(const View& view) const override { return reservations_.next_after(view.now()); }

 private:
  void plan(const View& view) {
    const Time now = view.now();
    const Amount all = pool_size(view.devices());
    // A reservation that could not be kept, or one that was given up unused, makes room or takes
    // it.
    if (plan_again_ || all != all_ || leaving_ != JobId{} || (late_ && now > planned_at_)) {
      all_ = all;
      reservations_.clear(now, all);
      running_.block(reservations_, now);
      plan_again_ = late_ = false;
      leaving_ = {};
    } else {
      reservations_.forget_before(now);
    }
    reservations_.make_more(now);
    planned_at_ = now;
  }

  MovingEnds running_;
  Reservations reservations_;
  Amount all_ = 0;
  Time planned_at_{};
  JobId leaving_;  // left the queue without a start
  bool plan_again_ = true;
  bool late_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_conservative() { return std::make_unique<Conservative>(); }

}  // namespace berth
