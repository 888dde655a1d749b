// Stride (Waldspurger and Weihl, 1995): the lottery without luck. Each owner has a pass, which
// every start moves on by the expected GPU time over the owner's weight; the lowest goes first.
#include "policy/by_owner.h"
#include "policy/make.h"

namespace berth {
namespace {

class Stride final : public ByOwner {
 public:
  std::string_view name() const override { return "stride"; }

  void started(const Job& job, const Needs& needs, Time) override {
    pass_[job.owner] += expected_use(job, needs) / job.weight;
  }

 private:
  double score(OwnerId owner, std::uint32_t, const View&) override {
    // Who was away has saved nothing up: it joins where the others are.
    double& pass = pass_[owner];
    pass = std::max(pass, now_);
    return pass;
  }
  void chosen(OwnerId owner) override { now_ = std::max(now_, pass_[owner]); }

  std::map<OwnerId, double> pass_;
  double now_ = 0;  // the pass of the last one that was chosen
};

}  // namespace

std::unique_ptr<Policy> make_stride() { return std::make_unique<Stride>(); }

}  // namespace berth
