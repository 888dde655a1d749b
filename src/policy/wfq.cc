// Weighted fair queueing: each job gets a virtual finish time when it comes, which is that of its
// owner's job before it plus its expected GPU time over the owner's weight. The smallest goes
// first, and what does not fit is passed over. The virtual clock is self-clocked (Golestani, 1994):
// it shows the finish time of the job that was started last.
#include <cmath>
#include <map>

#include "policy/by_owner.h"
#include "policy/make.h"
#include "policy/owner_books.h"

namespace berth {
namespace {

class Wfq final : public Policy {
 public:
  std::string_view name() const override { return "wfq"; }

  Rank rank(const Job& job, const Needs& needs) override {
    Rank& last = finish_[job.owner];
    const double use = expected_use(job, needs) * 1e3 / job.weight;
    last = std::max(last, clock_) + std::max<Rank>(1, std::llround(use));
    return last;
  }

  void started(const Job& job, const Needs&, Time) override { clock_ = std::max(clock_, job.rank); }

  bool ranks_by_history() const override { return true; }
  PolicyBooks close_books() override {
    PolicyBooks books = {clock_};
    add_owners<1>(books, finish_, [](Rank finish) { return std::array{finish}; });
    return books;
  }
  bool take_books(const PolicyBooks& books) override {
    clock_ = books.empty() ? 0 : books[0];
    return !books.empty() &&
           take_owners<1>(std::span(books).subspan(1), finish_, [](auto own) { return own[0]; });
  }

  std::optional<Proposal> propose(const View& view) override {
    for (const Queue::Head& head : view.queue().heads()) {
      if (auto devices = view.place(head.shape, {})) {
        return Proposal{head.first.job, std::move(*devices)};
      }
    }
    return std::nullopt;
  }

 private:
  std::map<OwnerId, Rank> finish_;
  Rank clock_ = 0;  // in thousandths of a GPU-second of weight 1
};

}  // namespace

std::unique_ptr<Policy> make_wfq() { return std::make_unique<Wfq>(); }

}  // namespace berth
