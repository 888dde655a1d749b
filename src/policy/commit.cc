// The rules of RLScheduler (Zhang et al., SC '20), for comparison with its published figures: the
// first in order is chosen once and waited for, even when a better one arrives meanwhile. With
// backfilling, jobs that are expected to end before it can start go past it, first come, first
// served.
#include "policy/gap.h"
#include "policy/make.h"
#include "policy/running_ends.h"

namespace berth {
namespace {

class Commit final : public Policy {
 public:
  Commit(const Order& order, bool backfills)
      : order_(order),
        backfills_(backfills),
        name_(std::string(order.name) + (backfills ? "+commit+backfill" : "+commit")) {}

  std::string_view name() const override { return name_; }
  Rank rank(const Job& job, const Needs& needs) override { return order_.rank(job, needs); }

  void joined(const Job& job, const Needs& needs) override {
    waiting_.insert(
        {{0, job.id}, job.shape.value, {amount_of(needs), Bytes{}, job.expected_left()}});
  }
  void left(const Job& job, const Needs&) override {
    waiting_.erase({0, job.id});
    chosen_ = job.id == chosen_ ? JobId{} : chosen_;
  }
  void started(const Job& job, const Needs& needs, Time now) override {
    running_.add(job, needs, now);
  }
  void stopped(const Job& job, const Needs&, Time) override { running_.remove(job); }

  bool ranks_by_history() const override { return order_.counts_time; }
  PolicyBooks close_books() override {
    PolicyBooks books = {static_cast<std::int64_t>(chosen_.value)};
    order_.add_to(books);
    running_.add_to(books);
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    chosen_ = JobId{books.empty() ? 0 : static_cast<std::uint64_t>(books[0])};
    std::span<const std::int64_t> rest = std::span(books).subspan(books.empty() ? 0 : 1);
    return !books.empty() && (chosen_ == JobId{} || waiting_.contains({0, chosen_})) &&
           order_.take(rest) && running_.take(rest);
  }

  std::optional<Proposal> propose(const View& view) override {
    if (view.queue().heads().empty()) {
      return std::nullopt;
    }
    if (chosen_ == JobId{}) {
      chosen_ = view.queue().heads().begin()->first.job;
    }
    const ShapeId shape = view.job(chosen_).shape;
    if (auto devices = view.place(shape, {})) {
      return Proposal{chosen_, std::move(*devices)};
    }
    return backfills_ ? backfill(view, amount_of(view.queue().needs(shape))) : std::nullopt;
  }

 private:
  std::optional<Proposal> backfill(const View& view, Amount wanted) const {
    const Amount room = pool_size(view.devices()) - running_.amount();
    const Time start = running_.shadow(wanted, room, view.now()).when;
    const Duration before = start - view.now() - Duration{1};
    const BackfillEntry* entry = waiting_.first(Gap{room, before, -1});
    if (entry == nullptr) {
      return std::nullopt;
    }
    auto devices = view.place(ShapeId{entry->item}, {});
    return devices ? std::optional(Proposal{entry->key.job, std::move(*devices)}) : std::nullopt;
  }

  Order order_;
  bool backfills_;
  std::string name_;
  JobId chosen_;
  BackfillTree waiting_;  // first come, first served
  RunningEnds running_;
};

}  // namespace

std::unique_ptr<Policy> make_commit(const Order& order) {
  return std::make_unique<Commit>(order, false);
}
std::unique_ptr<Policy> make_commit_backfill(const Order& order) {
  return std::make_unique<Commit>(order, true);
}

}  // namespace berth
