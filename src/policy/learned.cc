#include "policy/learned.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "policy/decayed_use.h"
#include "policy/learned_room.h"
#include "policy/learned_wait.h"
#include "policy/window_order.h"
#include "rl/candidates.h"

namespace berth {
namespace {

/// How many kinds of job behind the candidates are tried.
constexpr int kMostHeads = 256;

class Learned final : public Policy {
 public:
  Learned(Model model, const LearnedOptions& options)
      : order_{options.aging},
        use_(options.half_life),
        use_scale_(std::log(2.0) / std::max(to_seconds(options.half_life), 1e-9)),
        grace_(model.grace),
        starts_(model.starts),
        room_(model.tight),
        wait_(options.patience),
        ranks_(model) {}

  std::string_view name() const override { return "rl"; }
  bool ranks_are_broken() const { return ranks_.are_broken(); }
  Rank rank(const Job& job, const Needs&) override { return order_.rank(job); }

  /// The guard's bound: what comes after the job is due does not pass it.
  std::optional<Promise> promise(const Job& job) const override {
    Promise told = order_.promise(job);
    told.passed_until = add_saturating(told.passed_until, grace_);
    told.window += grace_;
    return told;
  }

  void joined(const Job& job, const Needs& needs) override {
    candidates_.joined(job, needs);
    room_.joined(job.shape);
    wait_.joined(needs);
  }
  void left(const Job& job, const Needs& needs) override {
    candidates_.left(job);
    wait_.left(job, needs);
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    wait_.started(job, needs, now);
    use_.started(job, needs, now);
  }
  void stopped(const Job& job, const Needs& needs, Time now) override {
    wait_.stopped(job, needs);
    use_.stopped(job, needs, now);
  }

  PolicyBooks close_books() override {
    PolicyBooks books = {0};
    wait_.running().add_to(books);
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
    return wait_.running().take(all.subspan(1, notes - 1)) && use_.take(all.subspan(notes));
  }

  std::optional<Proposal> propose(const View& view) override {
    const std::span<const RankedJob> jobs = candidates_.look(view);
    first_due_ = jobs.empty() ? kNever : due(jobs.front().key.rank);
    begin(view);
    in_vain_ = !jobs.empty() && nothing_fits(view);
    return jobs.empty() || in_vain_ ? std::nullopt : decide(view);
  }

  /// A decision in vain was not made, but people ask what it would have been.
  std::optional<Reservation> reservation(const View& view) const override {
    if (std::exchange(in_vain_, false) && !candidates_.seen().empty()) {
      begin(view);
      (void)decide(view);
    }
    return wait_.reservation(view);
  }

  Time next_look(const View& view) const override {
    return std::min(first_due_ > view.now() ? first_due_ : kNever, wait_.next_look(view));
  }

 private:
  Time due(Rank rank) const {
    constexpr Rank kLast = rank_of(kNever) - 1;
    const auto window_end = std::chrono::microseconds(std::clamp(rank, -kLast, kLast));
    return add_saturating(Time(Duration(window_end)), grace_);
  }

  void begin(const View& view) const {
    wait_.begin();
    room_.look(view, candidates_.seen());
  }

  /// Whether no decision starts anything: then there is no need to make it.
  bool nothing_fits(const View& view) const {
    if (wait_.nothing_fits(view)) {
      return true;
    }
    const std::span<const RankedJob> jobs = candidates_.seen();
    return std::none_of(jobs.begin(), jobs.end(),
                        [&](const RankedJob& job) { return room_.kind_of(view, job).fits; }) &&
           (candidates_.are_all() || nothing_fits_behind(view));
  }

  std::optional<Proposal> decide(const View& view) const {
    const std::span<const RankedJob> jobs = candidates_.seen();
    if (view.now() >= first_due_) {
      if (auto devices = view.place(jobs.front().shape, {})) {
        return Proposal{jobs.front().key.job, std::move(*devices)};
      }
      wait_.wait_for(view, jobs.front(), false);
    }
    rank_all(view, jobs);
    if (auto proposal = choose(view, jobs)) {
      return proposal;
    }
    return !wait_.holds_all() && !candidates_.are_all() ? choose_behind(view) : std::nullopt;
  }

  void rank_all(const View& view, std::span<const RankedJob> jobs) const {
    rest_ = rest_of(view.devices(), jobs, candidates_.waiting());
    Momentary moment{view.now()};
    const RankedJob* before = nullptr;
    for (std::size_t i = 0; i < jobs.size(); before = &jobs[i++]) {
      const RankedJob& job = jobs[i];
      if (before == nullptr || job.owner != before->owner) {
        moment.use =
            use_.of(job.owner, moment.now) * use_scale_ / static_cast<double>(rest_.serving);
      }
      if (before == nullptr || job.shape != before->shape) {
        const LearnedRoom::Kind& kind = room_.kind_of(view, job);
        moment.fits = kind.fits;
        moment.slack = kind.place.slack;
        moment.gap = kind.place.gap;
      }
      ranks_.see(i, job, moment);
    }
    ranks_.rank(jobs.size(), rest_);
  }

  std::optional<Proposal> choose(const View& view, std::span<const RankedJob> jobs) const {
    find_hopeless(view, jobs);
    drop_what_only_waits(view, jobs);
    while (const std::optional<std::size_t> best = ranks_.best()) {
      const RankedJob& job = jobs[*best];
      LearnedRoom::Kind& kind = room_.kind_of(view, job);
      if (kind.fits) {
        if (auto devices = place(view, job)) {
          return Proposal{job.key.job, std::move(*devices)};
        }
        if (LearnedRoom::may_fit(view, job.shape)) {
          ranks_.drop(*best);  // only what is kept for another job stands in the way
        } else {
          rank_without_room(jobs, job.shape, kind);
        }
        continue;
      }
      if (!wait_.any() && starts_ != Starts::Pass) {
        wait_.wait_for(view, job, starts_ == Starts::Hold);
        kind.hopeless = !wait_.any();
      }
      if (wait_.holds_all()) {
        return std::nullopt;
      }
      ranks_.drop(*best);
      drop_what_only_waits(view, jobs);
    }
    return std::nullopt;
  }

  /// Jobs of this kind turned out not to fit.
  void rank_without_room(std::span<const RankedJob> jobs, ShapeId shape,
                         LearnedRoom::Kind& kind) const {
    kind.fits = false;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].shape == shape) {
        ranks_.rank_without_room(i, rest_);
      }
    }
  }

  /// Most kinds for which nothing can be kept are known without trying.
  void find_hopeless(const View& view, std::span<const RankedJob> jobs) const {
    if (wait_.any() || starts_ == Starts::Pass) {
      return;
    }
    for (const RankedJob& job : jobs) {
      LearnedRoom::Kind& kind = room_.kind_of(view, job);
      if (!kind.fits && !std::exchange(kind.asked, true)) {
        kind.hopeless = !wait_.may_hope(view, job.shape, kind.nowhere);
      }
    }
  }

  /// Those that neither fit nor have anything kept for them. A job that has waited for long is
  /// asked itself.
  void drop_what_only_waits(const View& view, std::span<const RankedJob> jobs) const {
    const bool all = wait_.any() || starts_ == Starts::Pass;
    const Time now = view.now();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const LearnedRoom::Kind& kind = room_.kind_of(view, jobs[i]);
      if (!kind.fits && (all || (kind.hopeless && !wait_.impatient(now, jobs[i].submitted)))) {
        ranks_.drop(i);
      }
    }
  }

  std::optional<std::vector<DeviceId>> place(const View& view, const RankedJob& job) const {
    const auto avoids = wait_.avoids(job);
    return avoids ? room_.place(view, job, *avoids) : std::nullopt;
  }

  bool nothing_fits_behind(const View& view) const {
    int left = kMostHeads;
    const auto& heads = view.queue().heads();
    return std::none_of(heads.begin(), heads.end(), [&](const Queue::Head& head) {
      return left-- > 0 && LearnedRoom::may_fit(view, head.shape);
    });
  }

  /// None of the candidates can start: the first of another kind that can.
  std::optional<Proposal> choose_behind(const View& view) const {
    int left = kMostHeads;
    for (const Queue::Head& head : view.queue().heads()) {
      if (left-- == 0) {
        break;
      }
      if (!LearnedRoom::may_fit(view, head.shape)) {
        continue;
      }
      const RankedJob job = describe_job(view.job(head.first.job), view.queue().needs(head.shape));
      if (auto devices = place(view, job)) {
        return Proposal{job.key.job, std::move(*devices)};
      }
    }
    return std::nullopt;
  }

  WindowOrder order_;
  DecayedUse use_;
  double use_scale_;  // to parts of what one device gives in the long run
  Duration grace_;
  Starts starts_;
  Candidates candidates_;
  Time first_due_ = kNever;

  // Of one decision.
  mutable bool in_vain_ = false;  // none was made
  mutable LearnedRoom room_;
  mutable LearnedWait wait_;
  mutable Rest rest_;
  mutable Ranks ranks_;
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
