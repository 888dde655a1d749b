// EASY backfilling: jobs start in order; when the first does not fit, it gets a reservation for the
// time when enough of the running jobs are expected to have ended (the shadow time), and others may
// start past it that are expected to end by then, or that need no more than what will be spare.
#include <algorithm>

#include "policy/backfill_queue.h"
#include "policy/make.h"
#include "policy/running_ends.h"

namespace berth {
namespace {

/// How many kinds of job are tried that have room in the pool, but find no devices that fit.
constexpr int kMostTries = 64;

class Easy final : public Policy {
 public:
  explicit Easy(const Order& order)
      : order_(order),
        name_(order.name == kFifoOrder.name ? "easy" : std::string(order.name) + "+easy") {}

  std::string_view name() const override { return name_; }
  Rank rank(const Job& job, const Needs& needs) override { return order_.rank(job, needs); }

  void joined(const Job& job, const Needs& needs) override {
    waiting_.insert(
        {{job.rank, job.id}, job.shape, {amount_of(needs), Bytes{}, job.expected_left()}});
  }
  void left(const Job& job, const Needs&) override {
    waiting_.erase({job.rank, job.id}, job.shape);
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    running_.add(job, needs, now);
  }
  void stopped(const Job& job, const Needs&, Time) override {
    running_.remove(job);
    kept_.job = {};
  }

  bool ranks_by_history() const override { return order_.counts_time; }
  PolicyBooks close_books() override {
    kept_ = {};
    PolicyBooks books;
    order_.add_to(books);
    running_.add_to(books);
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    std::span<const std::int64_t> rest = books;
    return order_.take(rest) && running_.take(rest);
  }

  std::optional<Proposal> propose(const View& view) override {
    if (view.queue().heads().empty()) {
      return std::nullopt;
    }
    const Queue::Head& head = *view.queue().heads().begin();
    if (auto devices = view.place(head.shape, {})) {
      kept_.job = {};
      return Proposal{head.first.job, std::move(*devices)};
    }
    return backfill(view, head);
  }

 private:
  /// What is kept for the first in order. It stands for all starts of one moment: each of them
  /// takes what it needs of the spare.
  struct Kept {
    JobId job;
    Time at;
    RunningEnds::Shadow shadow;
  };

  std::optional<Proposal> backfill(const View& view, const Queue::Head& head) {
    const Amount room = pool_size(view.devices()) - running_.amount();
    if (kept_.job != head.first.job || kept_.at != view.now()) {
      const Amount wanted = amount_of(view.queue().needs(head.shape));
      kept_ = {head.first.job, view.now(), running_.shadow(wanted, room, view.now())};
    }
    RunningEnds::Shadow& shadow = kept_.shadow;
    const Duration until = shadow.when == kNever ? kForever : shadow.when - view.now();
    BackfillQueue::Search search(waiting_, {.room = room, .length = until, .spare = shadow.spare});
    for (int tries = kMostTries; tries > 0; --tries) {
      const auto found = search.next();
      if (!found) {
        return std::nullopt;
      }
      if (auto devices = view.place(found->shape, {})) {
        shadow.spare -= found->measures.length <= until ? 0 : found->measures.amount;
        return Proposal{found->key.job, std::move(*devices)};
      }
    }
    return std::nullopt;
  }

  Order order_;
  std::string name_;
  BackfillQueue waiting_;
  RunningEnds running_;
  Kept kept_;
};

}  // namespace

std::unique_ptr<Policy> make_easy(const Order& order) { return std::make_unique<Easy>(order); }

}  // namespace berth
