// Stride (Waldspurger and Weihl, 1995): the lottery without luck. Each owner has a pass, which
// every start moves on by the expected GPU time over the owner's weight; the lowest goes first.
#include "policy/make.h"
#include "policy/owner_passes.h"

namespace berth {
namespace {

class Stride final : public OwnerPasses {
 public:
  std::string_view name() const override { return "stride"; }

 private:
  double step(const Job& job, const Needs& needs) override {
    return expected_use(job, needs) / job.weight;
  }
};

}  // namespace

std::unique_ptr<Policy> make_stride() { return std::make_unique<Stride>(); }

}  // namespace berth
