// Shortest remaining time first, and shortest remaining service (time × GPUs) first, by what is
// expected.
#include "policy/make.h"
#include "policy/preemptive.h"

namespace berth {
namespace {

class Srtf final : public Preemptive {
 public:
  std::string_view name() const override { return "srtf"; }

  Rank rank(const Job& job, const Needs&) override { return job.expected_left().count(); }

 private:
  Rank rank_now(Runner& runner, Time now) override {
    return runner.left == kForever ? kForever.count()
                                   : (runner.left - (now - runner.since)).count();
  }
};

class Srsf final : public Preemptive {
 public:
  std::string_view name() const override { return "srsf"; }

  Rank rank(const Job& job, const Needs& needs) override {
    return service(job.expected_left(), needs.gpus);
  }

 private:
  static Rank service(Duration left, std::uint32_t gpus) {
    // In microseconds, which leaves room for thousands of GPUs and years.
    return left == kForever ? kForever.count() : left.count() / 1000 * std::max(gpus, 1U);
  }

  Rank rank_now(Runner& runner, Time now) override {
    return runner.left == kForever ? kForever.count()
                                   : service(runner.left - (now - runner.since), runner.gpus);
  }
};

}  // namespace

std::unique_ptr<Policy> make_srtf() { return std::make_unique<Srtf>(); }
std::unique_ptr<Policy> make_srsf() { return std::make_unique<Srsf>(); }

}  // namespace berth
