// The default: short jobs soon, nobody late (window_order.h), no owner at the expense of another
// (owner_turns.h), and priorities above both.
//
// What fits is started past a job that does not, unless that would delay the first such job: it
// gets a reservation. A later job may take one of the reserved devices only if it is expected to be
// done in time. Where nobody can tell when the devices will be free, waiting GPUs would help no
// one, so nothing is kept; but a job that has waited longer than the patience gets its devices
// collected one by one, so that a stream of small jobs cannot starve a big one.
//
// Of jobs that claim memory, have one priority and came at about the same time, the largest that
// fits goes first: small ones fill the gaps that are left, large ones would find no gap later. The
// same holds for jobs that go past one that does not fit, whenever they came.
#include <algorithm>

#include "policy/owner_turns.h"
#include "policy/policies.h"
#include "policy/running_ends.h"

namespace berth {
namespace {

/// How many kinds of job are tried that should have room but find no devices that fit.
constexpr int kMostTries = 256;
/// How many kinds of job that fit are compared.
constexpr int kChoice = 64;

class Priority final : public Policy {
 public:
  explicit Priority(PriorityOptions options)
      : options_(options), turns_({options.aging}, options.half_life) {}

  std::string_view name() const override { return "priority"; }
  bool by_owner() const override { return true; }
  Rank rank(const Job& job, const Needs&) override { return WindowOrder{options_.aging}.rank(job); }

  void joined(const Job& job, const Needs& needs) override {
    // Jobs that share devices are measured by their claims: place() says whether the rest fits.
    const Amount whole = needs.alone() ? amount_of(needs) : 0;
    turns_.joined(job, {whole, claim_of(needs), length_of(job)});
    claims_ += claim_of(needs) > Bytes{} ? 1 : 0;
    choosy_ += is_choosy(needs) ? 1 : 0;
  }
  void left(const Job& job, const Needs& needs) override {
    turns_.left(job);
    blocked_ = job.id == blocked_ ? JobId{} : blocked_;
    claims_ -= claim_of(needs) > Bytes{} ? 1 : 0;
    choosy_ -= is_choosy(needs) ? 1 : 0;
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    turns_.started(job, needs, now);
    running_.add(job, needs, now);
    choosy_ += is_choosy(needs) ? 1 : 0;
  }
  void stopped(const Job& job, const Needs& needs, Time now) override {
    turns_.stopped(job, needs, now);
    running_.remove(job);
    choosy_ -= is_choosy(needs) ? 1 : 0;
  }

  PolicyBooks close_books() override {
    PolicyBooks books = {0};
    running_.add_to(books);
    books[0] = static_cast<std::int64_t>(books.size());
    const PolicyBooks turns = turns_.close_books();
    books.insert(books.end(), turns.begin(), turns.end());
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    const auto all = std::span(books);
    if (all.empty() || all[0] < 1 || static_cast<std::uint64_t>(all[0]) > all.size()) {
      return false;
    }
    const auto turns = static_cast<std::size_t>(all[0]);
    return running_.take(all.subspan(1, turns - 1)) && turns_.take_books(all.subspan(turns));
  }

  std::optional<Proposal> propose(const View& view) override {
    turns_.settle(view);
    blocked_ = {};
    OwnerTurns::Search search(turns_, {});
    while (const auto found = search.next()) {
      if (view.place(found->job.shape, {})) {
        return start(view, *found, search, {}, {});
      }
      if (view.queue().needs(found->job.shape).gpus > 0) {
        blocked_ = found->job.key.job;
        return backfill(view);
      }
    }
    return std::nullopt;
  }

  std::optional<Reservation> reservation(const View& view) const override {
    return blocked_ == JobId{} ? std::nullopt : reserve(view, view.job(blocked_));
  }

  Time next_look(const View& view) const override {
    if (blocked_ == JobId{}) {
      return kNever;
    }
    const Time impatient = add_saturating(view.job(blocked_).submitted, options_.patience);
    return impatient > view.now() ? impatient : kNever;
  }

 private:
  static Bytes claim_of(const Needs& needs) { return needs.gpus > 0 ? needs.memory : Bytes{}; }
  static Duration length_of(const Job& job) { return std::min(job.expected_left(), job.limit); }

  /// Whether it matters which devices the job gets, or who is on them.
  static bool is_choosy(const Needs& needs) { return needs.gpus > 0 && !needs.any_whole_device(); }

  bool impatient(const View& view, const Job& job) const {
    return view.now() >= add_saturating(job.submitted, options_.patience);
  }

  /// The devices on which the job will have room first. Of those that have it by a known time, the
  /// ones that have it latest: the others are of use to other jobs until then.
  std::optional<Reservation> reserve(const View& view, const Job& job) const {
    const Needs& needs = view.queue().needs(job.shape);
    std::vector<std::pair<Time, DeviceId>> free;
    for (std::uint32_t i = 0; i < view.devices().size(); ++i) {
      const DeviceSlot& slot = view.devices()[DeviceId{i}];
      if (slot.health == DeviceHealth::Ok && view.devices().fits_when_empty(DeviceId{i}, needs)) {
        free.emplace_back(view.expected_free(DeviceId{i}, needs), DeviceId{i});
      }
    }
    if (free.size() < needs.gpus) {
      return std::nullopt;  // devices are drained or lost: keeping the others back gains nothing
    }
    std::sort(free.begin(), free.end());
    Reservation kept{job.id, free[needs.gpus - 1].first, {}};
    if (kept.from == kNever && !impatient(view, job)) {
      return std::nullopt;
    }
    auto end = free.begin() + needs.gpus;
    while (kept.from != kNever && end != free.end() && end->first <= kept.from) {
      ++end;
    }
    std::for_each(end - needs.gpus, end,
                  [&](const auto& each) { kept.devices.push_back(each.second); });
    return kept;
  }

  /// The gap behind a reservation of devices.
  Gap gap_behind(const View& view, const Reservation& kept) const {
    const Amount idle = idle_amount(view);
    Gap gap{.room = idle, .spare = idle};
    if (!kept.devices.empty()) {
      const auto idle_ones = std::count_if(kept.devices.begin(), kept.devices.end(), [&](auto id) {
        return view.devices().fits(id, Needs{});
      });
      gap.spare -= idle_ones * Amount{kWholeShare};
      gap.length = kept.from == kNever ? Duration{} : kept.from - view.now();
    }
    if (claims_ > 0) {
      gap.memory = view.devices().most_room();
    }
    return gap;
  }

  /// The same where all jobs want whole devices and do not care which: only numbers count.
  Gap gap_in_pool(const View& view, const Job& first) const {
    const Amount idle = idle_amount(view);
    const Amount wanted = amount_of(view.queue().needs(first.shape));
    const RunningEnds::Shadow shadow = running_.shadow(wanted, idle, view.now());
    if (shadow.when != kNever) {
      return {.room = idle, .length = shadow.when - view.now(), .spare = shadow.spare};
    }
    const Amount kept = impatient(view, first) ? std::min(wanted, idle) : 0;
    return {.room = idle, .length = kept > 0 ? Duration{} : kForever, .spare = idle - kept};
  }

  static Amount idle_amount(const View& view) {
    return static_cast<Amount>(view.devices().idle()) * kWholeShare;
  }

  std::optional<Proposal> backfill(const View& view) {
    const Job& first = view.job(blocked_);
    const bool in_pool = choosy_ == 0 && view.devices().serving() == view.devices().size();
    const Reservation kept = in_pool ? Reservation{} : reserve(view, first).value_or(Reservation{});
    const Gap gap = in_pool ? gap_in_pool(view, first) : gap_behind(view, kept);
    OwnerTurns::Search search(turns_, gap);
    for (int tries = kMostTries; tries > 0; --tries) {
      const auto found = search.next();
      if (!found) {
        return std::nullopt;
      }
      if (auto proposal = start(view, *found, search, kept, gap)) {
        return proposal;
      }
    }
    return std::nullopt;
  }

  /// Starts this job, or a larger one behind it that may go first for its size.
  std::optional<Proposal> start(const View& view, const OwnerTurns::Found& found,
                                OwnerTurns::Search& search, const Reservation& kept,
                                const Gap& gap) {
    std::optional<Proposal> best = fit(view, found, kept, gap);
    Bytes claim = view.queue().needs(found.job.shape).memory;
    for (int left = kChoice; best && claim > Bytes{} && left > 0; --left) {
      const auto other = search.next();
      if (!other) {
        break;
      }
      const Bytes wanted = view.queue().needs(other->job.shape).memory;
      if (wanted > claim && together(view, found, *other)) {
        if (auto proposal = fit(view, *other, kept, gap)) {
          best = std::move(proposal);
          claim = wanted;
        }
      }
    }
    if (best) {
      turns_.serve(view.job(best->job), view.now());
    }
    return best;
  }

  bool together(const View& view, const OwnerTurns::Found& a, const OwnerTurns::Found& b) const {
    const Job& first = view.job(a.job.key.job);
    const Job& other = view.job(b.job.key.job);
    return a.owner == b.owner && first.priority == other.priority &&
           (blocked_ != JobId{} ||
            other.submitted <= add_saturating(first.submitted, options_.together));
  }

  /// This job beside what is kept, or on what is kept one of its kind that will be gone in time.
  std::optional<Proposal> fit(const View& view, const OwnerTurns::Found& found,
                              const Reservation& kept, const Gap& gap) const {
    const ShapeId shape = found.job.shape;
    if (kept.devices.empty()) {
      auto devices = view.place(shape, {});
      return devices ? std::optional(Proposal{found.job.key.job, std::move(*devices)})
                     : std::nullopt;
    }
    if (auto devices = view.place(shape, kept.devices)) {
      return Proposal{found.job.key.job, std::move(*devices)};
    }
    Gap in_time = gap;
    in_time.spare = -1;
    const auto brief = turns_.queue_of(found.owner).first_of(shape, in_time);
    auto devices = brief ? view.place(shape, {}) : std::nullopt;
    return devices ? std::optional(Proposal{brief->key.job, std::move(*devices)}) : std::nullopt;
  }

  PriorityOptions options_;
  OwnerTurns turns_;
  RunningEnds running_;
  std::size_t claims_ = 0;  // waiting jobs that claim memory
  std::size_t choosy_ = 0;  // waiting and running jobs for which it matters what devices they get
  JobId blocked_;           // the first that wants devices and found none at the last decision
};

}  // namespace

std::unique_ptr<Policy> make_priority(PriorityOptions options) {
  return std::make_unique<Priority>(options);
}

}  // namespace berth
