// Fair share: who has used the least GPU time lately, over their weight, goes first.
#include <cmath>

#include "policy/backfilling.h"
#include "policy/decayed_use.h"
#include "policy/make.h"

namespace berth {
namespace {

class Fair final : public Backfilling {
 public:
  explicit Fair(Duration half_life) : use_(half_life) {}

  std::string_view name() const override { return "fair"; }

 private:
  /// In GPU-microseconds.
  Rank set_back(const Job& first, const View& view) override {
    return std::llround(use_.of(first.owner, view.now()) / first.weight * 1e6);
  }

  void has_started(const Job& job, const Needs& needs, Time now) override {
    use_.started(job, needs, now);
  }
  void has_stopped(const Job& job, const Needs& needs, Time now) override {
    use_.stopped(job, needs, now);
  }
  void add_notes(PolicyBooks& books) const override { use_.add_to(books); }
  bool take_notes(std::span<const std::int64_t> notes) override { return use_.take(notes); }

  DecayedUse use_;
};

}  // namespace

std::unique_ptr<Policy> make_fair(Duration half_life) { return std::make_unique<Fair>(half_life); }

}  // namespace berth
