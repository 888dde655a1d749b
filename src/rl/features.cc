#include "rl/features.h"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

constexpr double kTypicalSeconds = 3600;  // of a job whose length nobody knows

double log_seconds(double seconds) { return std::log1p(std::max(seconds, 0.0)) / 10; }

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
  const double part = static_cast<double>(job.gpus) / static_cast<double>(rest.serving);
  const double memory = rest.device_memory > 0 ? std::min(job.memory / rest.device_memory, 1.0) : 0;
  return {job.log_length,
          job.log_gpus,
          log_seconds(to_seconds(moment.now - job.submitted)),
          moment.fits ? 0.0 : 1.0,
          job.share,
          memory,
          moment.use,
          job.priority,
          std::min(part, 1.0),
          moment.slack,
          moment.gap};
}

Terms terms_of(const Sight& sight, const Rest& rest) {
  const auto [length, gpus, wait, no_room, share, memory, use, priority, part, slack, gap] = sight;
  return {length,
          gpus,
          wait,
          length * length,
          gpus * gpus,
          wait * wait,
          length * gpus,
          length * wait,
          gpus * wait,
          no_room,
          no_room * wait,
          no_room * gpus,
          share,
          memory,
          use,
          priority,
          part,
          rest.waiting * length,
          rest.waiting * gpus,
          rest.waiting * wait,
          rest.idle * length,
          rest.idle * gpus,
          slack,
          length * share,
          rest.waiting * slack,
          rest.waiting * share,
          gap,
          rest.waiting * gap};
}

Inputs inputs_of(const Sight& sight, const Rest& rest) {
  Inputs inputs{};
  std::copy(sight.begin(), sight.end(), inputs.begin());
  inputs[kSights] = rest.waiting;
  inputs[kSights + 1] = rest.idle;
  inputs[kSights + 2] = rest.mean_length;
  inputs[kSights + 3] = rest.mean_gpus;
  return inputs;
}

}  // namespace berth
