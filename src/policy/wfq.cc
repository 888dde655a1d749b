// Weighted fair queueing: each job gets a virtual finish time when it comes, which is that of its
// owner's job before it plus its expected GPU time over the owner's weight. The smallest goes
// first. The virtual clock is self-clocked (Golestani, 1994): it shows the finish time of the job
// that was started last.
#include <cmath>
#include <map>

#include "policy/backfilling.h"
#include "policy/make.h"
#include "policy/owner_books.h"

namespace berth {
namespace {

class Wfq final : public Backfilling {
 public:
  std::string_view name() const override { return "wfq"; }

  Rank rank(const Job& job, const Needs& needs) override {
    Rank& last = finish_[job.owner];
    const double use = expected_use(job, needs) * 1e3 / job.weight;
    last = std::max(last, clock_) + std::max<Rank>(1, std::llround(use));
    return last;
  }
  bool ranks_by_history() const override { return true; }

 private:
  Rank set_back(const Job&, const View&) override { return 0; }  // it is all in the ranks

  void has_started(const Job& job, const Needs&, Time) override {
    clock_ = std::max(clock_, job.rank);
  }
  void add_notes(PolicyBooks& books) const override {
    books.push_back(clock_);
    add_owners<1>(books, finish_, [](Rank finish) { return std::array{finish}; });
  }
  bool take_notes(std::span<const std::int64_t> notes) override {
    clock_ = notes.empty() ? 0 : notes[0];
    return !notes.empty() &&
           take_owners<1>(notes.subspan(1), finish_, [](auto own) { return own[0]; });
  }

  std::map<OwnerId, Rank> finish_;
  Rank clock_ = 0;  // in thousandths of a GPU-second of weight 1
};

}  // namespace

std::unique_ptr<Policy> make_wfq() { return std::make_unique<Wfq>(); }

}  // namespace berth
