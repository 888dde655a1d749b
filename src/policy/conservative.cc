// Conservative backfilling: the first thousand waiting jobs have a reservation each, the earliest
// that delays nobody who has one. When a job ends before its time, each reservation moves, in their
// order, to the earliest time that is possible with the others where they are (compression), so
// that nobody ever starts later than promised. Only when jobs overstay, or when the devices that
// are free do not fit together, must reservations move back: then all are made anew, in their
// order. Jobs further back get theirs when some in front have started: each costs a look at all
// others, so a plan for a million of them would take hours.
#include <algorithm>
#include <map>
#include <set>

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
  struct Stay {
    ShapeId shape;
    Amount amount = 0;
    Time due;  // as it was expected at its start
    Time end;  // as it is now
  };

  const Stay& add(const Job& job, Amount amount, Time now) {
    const Time end = add_saturating(now, planned_length(job));
    ends_.insert({end, job.id});
    return running_[job.id] = {job.shape, amount, end, end};
  }
  Stay remove(JobId id) {
    const auto found = running_.find(id);
    const Stay stay = found->second;
    ends_.erase({stay.end, id});
    running_.erase(found);
    return stay;
  }

  /// What each job takes has changed.
  template <class AmountOf>
  void measure(AmountOf amount_of_shape) {
    for (auto& [id, stay] : running_) {
      stay.amount = amount_of_shape(stay.shape);
    }
  }

  /// Moves the ends that are past, and takes what these jobs have until their new ends. Returns the
  /// last of these; `now` if there is none.
  Time extend(Reservations& reservations, Time now) {
    Time last = now;
    while (!ends_.empty() && ends_.begin()->first <= now) {
      const JobId id = ends_.begin()->second;
      Stay& stay = running_.at(id);
      // It may end any moment; the longer it has overstayed, the less is made of the next one, or
      // a job that takes years would be planned around each second.
      const Duration overstayed = now - stay.due;
      stay.end = add_saturating(now, std::max<Duration>(std::chrono::seconds(1), overstayed));
      ends_.erase(ends_.begin());
      ends_.insert({stay.end, id});
      reservations.take(now, stay.end, stay.amount);
      last = std::max(last, stay.end);
    }
    return last;
  }

  /// Takes what each job has until its end.
  void block(Reservations& reservations, Time now) const {
    for (const auto& [id, stay] : running_) {
      reservations.take(now, stay.end, stay.amount);
    }
  }

  void add_to(PolicyBooks& books) const {
    books.push_back(static_cast<std::int64_t>(running_.size()));
    for (const auto& [id, stay] : running_) {
      books.push_back(static_cast<std::int64_t>(id.value));
      books.push_back(stay.due.time_since_epoch().count());
      books.push_back(stay.end.time_since_epoch().count());
    }
  }
  /// Returns what follows in the books; nothing where they are not of the jobs that run.
  std::optional<std::span<const std::int64_t>> take(std::span<const std::int64_t> books) {
    if (books.empty() || books[0] != static_cast<std::int64_t>(running_.size()) ||
        books.size() < 1 + 3 * running_.size()) {
      return std::nullopt;
    }
    books = books.subspan(1);
    ends_.clear();
    for (auto& [id, stay] : running_) {
      if (books[0] != static_cast<std::int64_t>(id.value)) {
        return std::nullopt;
      }
      stay.due = Time(Duration(books[1]));
      stay.end = Time(Duration(books[2]));
      ends_.insert({stay.end, id});
      books = books.subspan(3);
    }
    return books;
  }

 private:
  std::map<JobId, Stay> running_;
  std::set<std::pair<Time, JobId>> ends_;
};

class Conservative final : public Policy {
 public:
  std::string_view name() const override { return "conservative"; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  void joined(const Job& job, const Needs& needs) override {
    reservations_.join(job.id, {job.shape, amount_of(needs, device_memory_), planned_length(job)});
  }
  void left(const Job& job, const Needs&) override {
    if (reservations_.leave(job.id)) {
      leaving_ = job.id;
    }
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    const MovingEnds::Stay& stay = running_.add(job, amount_of(needs, device_memory_), now);
    reservations_.take(now, stay.end, stay.amount);
    leaving_ = {};
  }
  void stopped(const Job& job, const Needs&, Time now) override {
    const MovingEnds::Stay stay = running_.remove(job.id);
    reservations_.give(now, stay.end, stay.amount);
    room_ = room_ || now < stay.end;
  }

  PolicyBooks close_books() override {
    again_ = true;
    PolicyBooks books = {all_};
    running_.add_to(books);
    reservations_.add_to(books);
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    if (books.empty()) {
      return false;
    }
    all_ = books[0];
    again_ = true;
    const auto rest = running_.take(std::span(books).subspan(1));
    return rest && reservations_.take_books(*rest);
  }

  std::optional<Proposal> propose(const View& view) override {
    plan(view);
    for (const auto& [start, id] : reservations_.in_order()) {
      if (start > view.now()) {
        break;
      }
      if (auto devices = view.place(reservations_.shape_of(id), {})) {
        return Proposal{id, std::move(*devices)};
      }
      late_ = true;  // the devices do not fit together
    }
    return std::nullopt;
  }

  std::optional<Promise> promise(const Job& job) const override {
    const Time start = reservations_.start_of(job.id);
    return start == kNever ? std::nullopt
                           : std::optional(Promise{kNever, kForever, kForever, start});
  }

  Time next_look(const View& view) const override { return reservations_.next_after(view.now()); }

 private:
  void plan(const View& view) {
    const Time now = view.now();
    const Amount all = pool_size(view.devices());
    reservations_.forget_before(now);
    const Time extended = running_.extend(reservations_, now);
    again_ = again_ || (late_ && now > planned_at_) ||
             (extended > now && reservations_.is_overdrawn(extended));
    if (view.devices().size() != devices_) {
      measure(view);
      again_ = true;
    }
    if (all != all_) {
      reservations_.give_up();
      again_ = true;
    }
    if (again_) {
      reservations_.clear(now, all);
      running_.block(reservations_, now);
      reservations_.make_again(now);
      late_ = false;
    } else if (room_ || leaving_ != JobId{}) {
      reservations_.compress(now);
    }
    reservations_.make_more(now);
    all_ = all;
    planned_at_ = now;
    again_ = room_ = false;
    leaving_ = {};
  }

  /// There are other devices, and claims may be other parts of them.
  void measure(const View& view) {
    devices_ = view.devices().size();
    device_memory_ = largest_memory(view.devices());
    const auto amount = [&](ShapeId shape) {
      return amount_of(view.queue().needs(shape), device_memory_);
    };
    reservations_.measure(amount);
    running_.measure(amount);
  }

  MovingEnds running_;
  Reservations reservations_;
  Amount all_ = 0;
  std::size_t devices_ = 0;  // whose memory has been looked at
  Bytes device_memory_;
  Time planned_at_{};
  JobId leaving_;       // left the queue without a start
  bool room_ = false;   // somebody has ended before its time
  bool late_ = false;   // a reservation could not be kept
  bool again_ = false;  // all reservations are to be made anew
};

}  // namespace

std::unique_ptr<Policy> make_conservative() { return std::make_unique<Conservative>(); }

}  // namespace berth
