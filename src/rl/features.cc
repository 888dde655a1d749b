#include "rl/features.h"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

constexpr double kTypicalSeconds = 3600;  // of a job whose length nobody knows

double log_seconds(double seconds) { return log_of_one_and(std::max(seconds, 0.0)) / 10; }

}  // namespace

RankedJob describe_job(const Job& job, const Needs& needs) {
  RankedJob one;
  one.key = {job.rank, job.id};
  one.shape = job.shape;
  one.owner = job.owner;
  one.submitted = job.submitted;
  one.length = std::min(job.expected_left(), job.limit);
  one.gpus = needs.gpus;
  one.alone = needs.alone();
  one.log_length = log_seconds(one.length == kForever ? kTypicalSeconds : to_seconds(one.length));
  one.log_gpus = std::log1p(needs.gpus) / 5;
  one.share = needs.share == 0 ? 1 : static_cast<double>(needs.share) / kWholeShare;
  one.memory = static_cast<double>(needs.memory.count);
  one.priority = job.priority / (4.0 + std::abs(static_cast<double>(job.priority)));
  return one;
}

Sight look_at(const RankedJob& job, const Rest& rest, const Momentary& moment) {
  Sight glance = glance_at(job, moment);
  glance[kWaitSight] = log_wait(glance[kWaitSight]);
  return sight_of<double>(glance, rest);
}

Inputs inputs_of(const Sight& sight, const Rest& rest) {
  Inputs inputs{};
  const auto others = others_of(rest);
  std::copy(others.begin(), others.end(), std::copy(sight.begin(), sight.end(), inputs.begin()));
  return inputs;
}

}  // namespace berth
