// Round robin: every job runs for a slice, and then gives way to those that have waited longest. A
// job that goes on has first to do again what its preemption cost; its slice begins after that, or
// jobs would undo each other's work for ever where the cost is above the slice.
#include "policy/make.h"
#include "policy/turn_taking.h"

namespace berth {
namespace {

class RoundRobin final : public TurnTaking {
 public:
  RoundRobin(Duration slice, Duration cost) : slice_(std::max(slice, Duration{1})), cost_(cost) {}

  std::string_view name() const override { return "rr"; }

 private:
  std::uint32_t level_of(const Job&, const Needs&) const override { return 0; }

  Time turn_ends(const Runner& runner) const override {
    if (runner.moved != kNever) {
      return add_saturating(runner.moved, slice_);  // nobody waited: it stayed for turns on end
    }
    const Time begin =
        runner.done > Duration{} ? add_saturating(runner.since, cost_) : runner.since;
    return add_saturating(begin, slice_);
  }

  void next_turn(Runner&) const override {}

  Duration slice_;
  Duration cost_;
};

}  // namespace

std::unique_ptr<Policy> make_round_robin(Duration slice, Duration cost) {
  return std::make_unique<RoundRobin>(slice, cost);
}

}  // namespace berth
