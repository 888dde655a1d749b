// Two-dimensional least attained service, as in Tiresias (Gu et al., NSDI '19): who has used little
// GPU time so far goes first. A job falls to the second and third level when its GPU time passes
// two limits; nothing needs to be known about its length. As published, a wide job can wait for
// ever behind narrow ones; here it is owed its devices after a while (turn_taking.h).
#include <array>

#include "policy/make.h"
#include "policy/turn_taking.h"

namespace berth {
namespace {

class Las final : public TurnTaking {
 public:
  Las(Duration first, Duration second, Duration patience)
      : limits_{first, second}, patience_(patience) {}

  std::string_view name() const override { return "las"; }

 private:
  std::uint32_t level_of(const Job& job, const Needs& needs) const override {
    std::uint32_t level = 0;
    while (level < limits_.size() && job.traits().done >= time_to(level, needs.gpus)) {
      ++level;
    }
    return level;
  }

  Time turn_ends(const Runner& runner) const override {
    return runner.level == limits_.size()
               ? kNever
               : runner.since + (time_to(runner.level, runner.gpus) - runner.done);
  }

  void next_turn(Runner& runner) const override { ++runner.level; }
  Duration patience() const override { return patience_; }

  /// How long a job of so many GPUs runs until it falls: whole seconds, as one would look.
  Duration time_to(std::uint32_t level, std::uint32_t gpus) const {
    return std::chrono::ceil<std::chrono::seconds>(limits_[level] / std::max(gpus, 1U));
  }

  std::array<Duration, 2> limits_;
  Duration patience_;
};

}  // namespace

std::unique_ptr<Policy> make_las(Duration first, Duration second, Duration patience) {
  return std::make_unique<Las>(first, second, patience);
}

}  // namespace berth
