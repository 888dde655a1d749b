// Dominant resource fairness (Ghodsi et al., NSDI '11): an owner's dominant share is the larger of
// their parts of all GPUs and of all GPU memory; the lowest, over the weight, goes first.
#include <cmath>

#include "policy/backfilling.h"
#include "policy/make.h"
#include "policy/pool.h"

namespace berth {
namespace {

class Drf final : public Backfilling {
 public:
  std::string_view name() const override { return "drf"; }

 private:
  void has_started(const Job& job, const Needs& needs, Time) override { change(job, needs, 1); }
  void has_stopped(const Job& job, const Needs& needs, Time) override { change(job, needs, -1); }

  struct Use {
    Amount compute = 0;
    Bytes memory;
  };

  void change(const Job& job, const Needs& needs, std::int64_t sign) {
    Use& use = use_[job.owner];
    use.compute += sign * amount_of(needs);
    use.memory.count += sign * needs.memory.count * needs.gpus;
  }

  /// In billionths of the machine.
  Rank set_back(const Job& first, const View& view) override {
    const Use& use = use_[first.owner];
    const auto all = static_cast<double>(std::max<Amount>(pool_size(view.devices()), 1));
    double share = static_cast<double>(use.compute) / all;
    if (use.memory > Bytes{}) {
      Bytes memory;
      for (const DeviceSlot& slot : view.devices().all()) {
        memory += slot.spec.memory;
      }
      if (memory > Bytes{}) {
        share = std::max(share,
                         static_cast<double>(use.memory.count) / static_cast<double>(memory.count));
      }
    }
    return std::llround(share / first.weight * 1e9);
  }

  std::map<OwnerId, Use> use_;
};

}  // namespace

std::unique_ptr<Policy> make_drf() { return std::make_unique<Drf>(); }

}  // namespace berth
