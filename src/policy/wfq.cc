// Weighted fair queueing: each job gets a virtual finish time when it comes, which is that of its
// owner's job before it plus its expected GPU time over the owner's weight. The smallest goes
// first, and what does not fit is passed over. The virtual clock is self-clocked (Golestani, 1994):
// it shows the finish time of the job that was started last.
#include <cmath>
#include <map>

#include "policy/by_owner.h"
#include "policy/make.h"

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
