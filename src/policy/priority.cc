// Priority with aging. A job's rank is when it was submitted plus its priority × the aging period:
// all waiting jobs age at the same pace, so their order never changes and nothing is sorted again.
//
// What fits is started past a job that does not, unless that would delay the first such job: it
// gets a reservation of the devices expected to be free first. A later job may take one of those
// only if it is expected to be done in time. Where nobody can tell when the devices will be free,
// waiting GPUs would help no one, so nothing is kept; but a job that has waited longer than the
// patience gets its devices collected one by one, so that a stream of small jobs cannot starve a
// big one.
//
// Of jobs that claim memory, have one priority and came at about the same time, the largest that
// fits goes first: small ones fill the gaps that are left, large ones would find no gap later. The
// same holds for jobs that go past one that does not fit, whenever they came.
#include <algorithm>
#include <limits>

#include "policy/policies.h"

namespace berth {
namespace {

/// How many jobs of one bucket are tried for a gap in front of a reservation.
constexpr int kBackfillDepth = 32;
/// How many kinds of job that fit are compared.
constexpr int kChoice = 64;

/// a + b × c, or the end of the range beyond which that lies: a user may choose any aging.
Rank saturated(std::int64_t a, std::int64_t b, std::int64_t c) {
  constexpr auto kRange = std::numeric_limits<std::int64_t>();
  std::int64_t product = 0;
  std::int64_t sum = 0;
  if (__builtin_mul_overflow(b, c, &product)) {
    product = (b < 0) != (c < 0) ? kRange.min() : kRange.max();
  }
  if (__builtin_add_overflow(a, product, &sum)) {
    sum = product < 0 ? kRange.min() : kRange.max();
  }
  return sum;
}

class Priority final : public Policy {
 public:
  explicit Priority(PriorityOptions options) : options_(options) {}

  std::string_view name() const override { return "priority"; }

  Rank rank(const Job& job, const Needs&) override {
    return saturated(job.submitted.time_since_epoch().count(), job.priority,
                     options_.aging.count());
  }

  std::optional<Proposal> propose(const View& view) override {
    std::optional<Reservation> kept;
    std::optional<Proposal> largest;
    JobId first{};  // that could start; `largest` may go before it
    Bytes claim;
    int left = kChoice;
    bool blocked = false;
    std::size_t kinds = kMostKinds;
    for (const Queue::Head& head : view.queue().heads()) {
      if (kinds-- == 0) {
        break;
      }
      const Bytes wanted = view.queue().needs(head.shape).memory;
      if (largest && (left == 0 || claim == Bytes{} || !equals(view, first, head, blocked))) {
        break;
      }
      if ((largest && wanted <= claim) || !view.place(head.shape, {})) {
        blocked = blocked || !largest;
        continue;
      }
      --left;
      if (blocked && !kept) {
        kept = reservation(view).value_or(Reservation{});
      }
      if (auto proposal = backfill(view, head, blocked ? *kept : Reservation{})) {
        first = largest ? first : proposal->job;
        largest = std::move(proposal);
        claim = wanted;
      }
    }
    return largest;
  }

  std::optional<Reservation> reservation(const View& view) const override {
    const Queue::Head* head = first_blocked(view);
    if (head == nullptr) {
      return std::nullopt;
    }
    return reserve(view, view.job(head->first.job), view.queue().needs(head->shape));
  }

  Time next_look(const View& view) const override {
    const Queue::Head* head = first_blocked(view);
    if (head == nullptr) {
      return kNever;
    }
    const Time impatient = add_saturating(view.job(head->first.job).submitted, options_.patience);
    return impatient > view.now() ? impatient : kNever;
  }

 private:
  /// Whether the first job of a bucket, which stands behind `before`, may go first for its size.
  bool equals(const View& view, JobId before, const Queue::Head& head, bool blocked) const {
    const Job& first = view.job(before);
    const Job& other = view.job(head.first.job);
    return first.priority == other.priority &&
           (blocked || other.submitted <= add_saturating(first.submitted, options_.together));
  }

  /// The first job in order that wants devices and does not fit now.
  static const Queue::Head* first_blocked(const View& view) {
    std::size_t kinds = kMostKinds;
    for (const Queue::Head& head : view.queue().heads()) {
      if (kinds-- == 0) {
        break;
      }
      if (view.queue().needs(head.shape).gpus > 0 && !view.place(head.shape, {})) {
        return &head;
      }
    }
    return nullptr;
  }

  std::optional<Reservation> reserve(const View& view, const Job& job, const Needs& needs) const {
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
    const bool impatient = view.now() >= add_saturating(job.submitted, options_.patience);
    if (kept.from == kNever && !impatient) {
      return std::nullopt;
    }
    for (std::uint32_t i = 0; i < needs.gpus; ++i) {
      kept.devices.push_back(free[i].second);
    }
    return kept;
  }

  static std::optional<Proposal> backfill(const View& view, const Queue::Head& head,
                                          const Reservation& kept) {
    if (auto devices = view.place(head.shape, kept.devices)) {
      return Proposal{head.first.job, std::move(*devices)};
    }
    // Only the kept devices are left: for jobs that will be gone in time.
    int tries = kBackfillDepth;
    for (const QueueKey& key : view.queue().bucket(head.shape).jobs) {
      if (tries-- == 0) {
        break;
      }
      const Job& job = view.job(key.job);
      const Duration length = std::min(job.expected, job.limit);
      if (kept.from != kNever && add_saturating(view.now(), length) <= kept.from) {
        return Proposal{key.job, *view.place(head.shape, {})};
      }
    }
    return std::nullopt;
  }

  PriorityOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_priority(PriorityOptions options) {
  return std::make_unique<Priority>(options);
}

}  // namespace berth
