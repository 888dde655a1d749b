// Round robin: every job runs for a slice, and then gives way to those that have waited longest.
#include "policy/make.h"
#include "policy/turns.h"

namespace berth {
namespace {

class RoundRobin final : public Turns {
 public:
  explicit RoundRobin(Duration slice) : slice_(std::max(slice, Duration{1})) {}

  std::string_view name() const override { return "rr"; }

 private:
  std::uint32_t level_of(const Job&, const Needs&) const override { return 0; }

  Time turn_ends(const Runner& runner) const override {
    // Where nobody waited, it stayed for turns on end.
    return add_saturating(runner.moved == kNever ? runner.since : runner.moved, slice_);
  }

  void next_turn(Runner&) const override {}

  Duration slice_;
};

}  // namespace

std::unique_ptr<Policy> make_round_robin(Duration slice) {
  return std::make_unique<RoundRobin>(slice);
}

}  // namespace berth
