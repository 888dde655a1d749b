#include "policy/learned.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "policy/decayed_use.h"
#include "policy/kept_devices.h"
#include "policy/running_ends.h"
#include "policy/tight_fit.h"
#include "policy/window_order.h"
#include "rl/candidates.h"

namespace berth {
namespace {

/// How many kinds of job behind the candidates are tried.
constexpr int kMostHeads = 256;

bool wants_certain_devices(const Needs& needs) {
  return needs.gpus > 0 && !needs.any_whole_device();
}

class Learned final : public Policy {
 public:
  Learned(Model model, const LearnedOptions& options)
      : model_(std::move(model)),
        options_(options),
        order_{options.aging},
        use_(options.half_life),
        use_scale_(std::log(2.0) / std::max(to_seconds(options.half_life), 1e-9)) {
    hopeless_.reserve(kMostCandidates);
  }

  std::string_view name() const override { return "rl"; }
  bool ranks_are_broken() const { return ranks_are_broken_; }
  Rank rank(const Job& job, const Needs&) override { return order_.rank(job); }

  /// The guard's bound: what comes after the job is due does not pass it.
  std::optional<Promise> promise(const Job& job) const override {
    Promise told = order_.promise(job);
    told.passed_until = add_saturating(told.passed_until, model_.grace);
    told.window += model_.grace;
    return told;
  }

  void joined(const Job& job, const Needs& needs) override {
    candidates_.joined(job, needs);
    choosy_ += wants_certain_devices(needs) ? 1 : 0;
  }
  void left(const Job& job, const Needs& needs) override {
    candidates_.left(job);
    choosy_ -= wants_certain_devices(needs) ? 1 : 0;
    blocked_ = job.id == blocked_ ? JobId{} : blocked_;
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    running_.add(job, needs, now);
    use_.started(job, needs, now);
    choosy_ += wants_certain_devices(needs) ? 1 : 0;
  }
  void stopped(const Job& job, const Needs& needs, Time now) override {
    running_.remove(job);
    use_.stopped(job, needs, now);
    choosy_ -= wants_certain_devices(needs) ? 1 : 0;
  }

  PolicyBooks close_books() override {
    PolicyBooks books = {0};
    running_.add_to(books);
    books[0] = static_cast<std::int64_t>(books.size());
    use_.add_to(books);
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    const auto all = std::span(books);
    if (all.empty() || all[0] < 1 || static_cast<std::uint64_t>(all[0]) > all.size()) {
      return false;
    }
    const auto notes = static_cast<std::size_t>(all[0]);
    return running_.take(all.subspan(1, notes - 1)) && use_.take(all.subspan(notes));
  }

  std::optional<Proposal> propose(const View& view) override {
    const std::span<const RankedJob> jobs = candidates_.look(view);
    blocked_ = {};
    holds_all_ = false;
    first_due_ = jobs.empty() ? kNever : due(jobs.front().key.rank);
    if (jobs.empty() || nothing_fits(view)) {
      return std::nullopt;
    }
    Waited waited;
    if (view.now() >= first_due_) {
      if (auto devices = view.place(jobs.front().shape, {})) {
        return Proposal{jobs.front().key.job, std::move(*devices)};
      }
      wait_for(view, jobs.front(), waited, false);
    }
    if (model_.tight) {
      tight_.look(view.devices(), jobs);
    }
    rank_all(view, jobs);
    if (auto proposal = choose(view, jobs, waited)) {
      return proposal;
    }
    return !holds_all_ && !candidates_.are_all() ? choose_behind(view, waited) : std::nullopt;
  }

  std::optional<Reservation> reservation(const View& view) const override {
    return blocked_ == JobId{} ? std::nullopt : keep(view, view.job(blocked_));
  }

  Time next_look(const View& view) const override {
    const Time impatient = blocked_ == JobId{}
                               ? kNever
                               : add_saturating(view.job(blocked_).submitted, options_.patience);
    return std::min(first_due_ > view.now() ? first_due_ : kNever,
                    impatient > view.now() ? impatient : kNever);
  }

 private:
  /// What is kept for the job that the policy waits for.
  struct Waited {
    bool any = false;
    Reservation kept;                                   // its devices, where it matters which
    Duration length = kForever;                         // jobs that are gone by then delay nobody
    Amount spare = std::numeric_limits<Amount>::max();  // others may take so much
  };

  Time due(Rank rank) const {
    constexpr Rank kLast = rank_of(kNever) - 1;
    const auto window_end = std::chrono::microseconds(std::clamp(rank, -kLast, kLast));
    return add_saturating(Time(Duration(window_end)), model_.grace);
  }

  /// Whether a decision is in vain: all jobs want whole devices, and none is idle.
  bool nothing_fits(const View& view) const {
    return choosy_ == 0 && view.devices().idle() == 0 && !view.devices().cpu_free();
  }

  bool in_pool(const View& view) const {
    return choosy_ == 0 && view.devices().serving() == view.devices().size();
  }

  bool impatient(const View& view, const Job& job) const {
    return view.now() >= add_saturating(job.submitted, options_.patience);
  }

  std::optional<Reservation> keep(const View& view, const Job& job) const {
    return keep_devices(view, job, impatient(view, job));
  }

  /// `hold`: what is free waits with the job. If not, others may go past if that does not delay it.
  void wait_for(const View& view, const RankedJob& job, Waited& waited, bool hold) {
    if (job.gpus == 0) {
      return;
    }
    const Amount idle = static_cast<Amount>(view.devices().idle()) * kWholeShare;
    if (in_pool(view)) {
      const Amount wanted = static_cast<Amount>(job.gpus) * kWholeShare;
      const RunningEnds::Shadow shadow = running_.shadow(wanted, idle, view.now());
      if (shadow.when == kNever && !impatient(view, view.job(job.key.job))) {
        return;
      }
      waited.length = shadow.when == kNever ? Duration{} : shadow.when - view.now();
      waited.spare = shadow.when == kNever ? std::max(idle - wanted, Amount{0}) : shadow.spare;
    } else {
      std::optional<Reservation> kept = keep(view, view.job(job.key.job));
      if (!kept) {
        return;
      }
      waited.length = kept->from == kNever ? Duration{} : kept->from - view.now();
      waited.kept = std::move(*kept);
    }
    waited.any = true;
    blocked_ = job.key.job;
    // Where it matters which devices, only those are held: others may be of no use to this job.
    holds_all_ = hold && waited.kept.devices.empty();
    if (hold) {
      waited.length = Duration{};
      waited.spare = 0;
    }
  }

  void rank_all(const View& view, std::span<const RankedJob> jobs) {
    rest_ = rest_of(view.devices(), jobs, candidates_.waiting());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      fits_[i] =
          i > 0 && jobs[i].shape == jobs[i - 1].shape ? fits_[i - 1] : has_room(view, jobs[i]);
      const auto place = fits_[i] ? tight_place(view, jobs[i], {}) : std::nullopt;
      ranks_[i] = rank_of_job(view, jobs[i], fits_[i], place.value_or(TightFit::Place{}));
    }
    const auto end = ranks_.begin() + static_cast<std::ptrdiff_t>(jobs.size());
    ranks_are_broken_ =
        !std::all_of(ranks_.begin(), end, [](double r) { return std::isfinite(r); });
    if (ranks_are_broken_) {
      std::iota(ranks_.begin(), end, 0.0);  // the default's order
    }
  }

  static bool may_fit(const View& view, const RankedJob& job) {
    return (!job.alone || job.gpus <= view.devices().idle()) &&
           view.queue().bucket(job.shape).blocked_at != view.devices().freed();
  }

  /// Where the model chooses the device: nothing if the placement does, or if the job fits nowhere.
  std::optional<TightFit::Place> tight_place(const View& view, const RankedJob& job,
                                             std::span<const DeviceId> avoid) const {
    return chooses_device(view, job)
               ? tight_.find(view.devices(), view.queue().needs(job.shape), avoid)
               : std::nullopt;
  }
  bool chooses_device(const View& view, const RankedJob& job) const {
    return model_.tight && !job.alone && tight_.knows(view.queue().needs(job.shape));
  }

  /// What ranks depend on must not depend on what was tried before: another policy that goes on
  /// from a checkpoint has not tried it.
  bool has_room(const View& view, const RankedJob& job) const {
    if (!may_fit(view, job) || view.queue().needs(job.shape).any_whole_device()) {
      return may_fit(view, job);
    }
    return chooses_device(view, job) ? tight_place(view, job, {}).has_value()
                                     : view.place(job.shape, {}).has_value();
  }

  double rank_of_job(const View& view, const RankedJob& job, bool fits,
                     const TightFit::Place& place) {
    if (job.owner != owner_seen_ || view.now() != use_seen_) {
      owner_seen_ = job.owner;
      use_seen_ = view.now();
      owner_use_ = use_.of(job.owner, view.now()) * use_scale_ / static_cast<double>(rest_.serving);
    }
    return rank_by(
        model_, look_at(job, rest_, {view.now(), fits, owner_use_, place.slack, place.gap}), rest_);
  }

  /// The smallest rank first, and of equal ones the first job.
  bool goes_later(std::size_t one, std::size_t other) const {
    return ranks_[one] != ranks_[other] ? ranks_[one] > ranks_[other] : one > other;
  }

  std::optional<Proposal> choose(const View& view, std::span<const RankedJob> jobs,
                                 Waited& waited) {
    const auto later = [this](std::size_t one, std::size_t other) {
      return goes_later(one, other);
    };
    const auto begin = order_of_ranks_.begin();
    auto end = begin + static_cast<std::ptrdiff_t>(jobs.size());
    std::iota(begin, end, std::size_t{0});
    std::make_heap(begin, end, later);
    hopeless_.clear();
    for (std::size_t tries = 2 * jobs.size(); tries > 0 && begin != end; --tries) {
      const std::size_t best = *begin;
      const RankedJob& job = jobs[best];
      if (fits_[best]) {
        if (auto devices = place(view, job, waited)) {
          return Proposal{job.key.job, std::move(*devices)};
        }
        if (!may_fit(view, job)) {
          rank_again(view, jobs, job.shape);
          std::make_heap(begin, end, later);
          continue;
        }
        // Only what is kept for another job stands in the way.
      } else if (!waited.any && model_.starts != Starts::Pass && !is_hopeless(view, job)) {
        wait_for(view, job, waited, model_.starts == Starts::Hold);
        if (holds_all_) {
          return std::nullopt;
        }
        if (!waited.any) {
          hopeless_.push_back(job.shape);
        }
      }
      std::pop_heap(begin, end, later);
      --end;
    }
    return std::nullopt;
  }

  /// Whether nothing can be kept for such a job: that was seen in this decision.
  bool is_hopeless(const View& view, const RankedJob& job) const {
    return std::find(hopeless_.begin(), hopeless_.end(), job.shape) != hopeless_.end() &&
           !impatient(view, view.job(job.key.job));
  }

  /// Jobs of this kind turned out not to fit.
  void rank_again(const View& view, std::span<const RankedJob> jobs, ShapeId shape) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].shape == shape && fits_[i]) {
        fits_[i] = false;
        ranks_[i] = ranks_are_broken_ ? ranks_[i] : rank_of_job(view, jobs[i], false, {});
      }
    }
  }

  std::optional<std::vector<DeviceId>> place(const View& view, const RankedJob& job,
                                             const Waited& waited) const {
    const bool in_time = job.length <= waited.length;
    const Amount amount = static_cast<Amount>(job.gpus) * kWholeShare;
    if (!waited.any || in_time || job.gpus == 0) {
      return place_avoiding(view, job, {});
    }
    if (job.alone && amount > waited.spare) {
      return std::nullopt;
    }
    return place_avoiding(view, job, waited.kept.devices);
  }

  std::optional<std::vector<DeviceId>> place_avoiding(const View& view, const RankedJob& job,
                                                      std::span<const DeviceId> avoid) const {
    if (const auto tight = tight_place(view, job, avoid)) {
      return std::vector<DeviceId>{tight->device};
    }
    return view.place(job.shape, avoid);
  }

  /// None of the candidates can start: the first of another kind that can.
  std::optional<Proposal> choose_behind(const View& view, const Waited& waited) const {
    int left = kMostHeads;
    for (const Queue::Head& head : view.queue().heads()) {
      if (left-- == 0) {
        break;
      }
      const RankedJob job = describe_job(view.job(head.first.job), view.queue().needs(head.shape));
      if (!may_fit(view, job)) {
        continue;
      }
      if (auto devices = place(view, job, waited)) {
        return Proposal{job.key.job, std::move(*devices)};
      }
    }
    return std::nullopt;
  }

  Model model_;
  LearnedOptions options_;
  WindowOrder order_;
  Candidates candidates_;
  RunningEnds running_;
  TightFit tight_;
  DecayedUse use_;
  double use_scale_;        // to parts of what one device gives in the long run
  std::size_t choosy_ = 0;  // waiting and running jobs for which it matters what devices they get
  JobId blocked_;           // the job that the policy waits for, as of the last decision
  bool holds_all_ = false;  // nothing may go past it
  Time first_due_ = kNever;

  // Of one decision.
  Rest rest_;
  std::array<double, kMostCandidates> ranks_{};
  std::array<bool, kMostCandidates> fits_{};
  std::array<std::size_t, kMostCandidates> order_of_ranks_{};  // a heap
  std::vector<ShapeId> hopeless_;  // kinds of job for which nothing can be kept
  bool ranks_are_broken_ = false;  // some are not numbers, so none is believed
  OwnerId owner_seen_;
  Time use_seen_ = kNever;
  double owner_use_ = 0;
};

}  // namespace

std::string_view model_trouble(const Policy& policy) {
  const auto* learned = dynamic_cast<const Learned*>(&policy);
  return learned != nullptr && learned->ranks_are_broken() ? "its model's ranks are not numbers"
                                                           : "";
}

std::unique_ptr<Policy> make_learned(Model model, const LearnedOptions& options) {
  return std::make_unique<Learned>(std::move(model), options);
}

}  // namespace berth
