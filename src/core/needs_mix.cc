#include "core/needs_mix.h"

#include <algorithm>

namespace berth {

std::int64_t part_of(const Needs& needs, Bytes device) {
  if (needs.alone()) {
    return kWholeShare;
  }
  const std::int64_t thousandth = std::max<std::int64_t>(device.count / kWholeShare, 1);
  const std::int64_t memory = device > Bytes{} ? needs.memory.count / thousandth : 0;
  return std::clamp<std::int64_t>(memory, needs.share, kWholeShare);
}

void NeedsMix::measure_by(Bytes device) {
  if (device == device_) {
    return;
  }
  device_ = device;
  wanting_more_.clear();
  for (const auto& [kind, jobs] : jobs_) {
    Needs needs;
    std::tie(needs.gpus, needs.share, needs.memory) = kind;
    count(needs, jobs);
  }
}

void NeedsMix::change(const Needs& needs, std::int64_t by) {
  if (!kept_ || needs.gpus == 0) {
    return;  // a job without a device could use none: that is the same wherever others go
  }
  const auto kind = jobs_.try_emplace({needs.gpus, needs.share, needs.memory}).first;
  kind->second += by;
  if (kind->second == 0) {
    jobs_.erase(kind);
  }
  count(needs, by);
}

void NeedsMix::count(const Needs& needs, std::int64_t by) {
  const auto found = wanting_more_.try_emplace(needs.gpus).first;
  Wanting& more = found->second;
  const std::int64_t part = std::max<std::int64_t>(part_of(needs, device_), 1);
  std::for_each(more.begin(), more.begin() + part, [&](std::int64_t& jobs) { jobs += by; });
  if (more[0] == 0) {
    wanting_more_.erase(found);
  }
}

}  // namespace berth
