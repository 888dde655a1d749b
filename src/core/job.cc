#include "core/job.h"

#include <algorithm>

namespace berth {
namespace {

struct StateName {
  std::string_view operator()(const Held&) const { return "held"; }
  std::string_view operator()(const Queued&) const { return "queued"; }
  std::string_view operator()(const Starting&) const { return "starting"; }
  std::string_view operator()(const Running&) const { return "running"; }
  std::string_view operator()(const Ended& ended) const { return outcome_name(ended.outcome); }
};

}  // namespace

const RareTraits& Job::traits() const {
  static const RareTraits kNone;
  return rare != nullptr ? *rare : kNone;
}

RareTraits& Job::own_traits() {
  if (rare == nullptr) {
    rare = std::make_unique<RareTraits>();
  }
  return *rare;
}

Duration Job::expected_left() const {
  return expected == kForever ? kForever : std::max(expected - traits().done, Duration{});
}

const std::vector<DeviceId>* Job::lease() const {
  if (const auto* starting = std::get_if<Starting>(&state)) {
    return &starting->devices;
  }
  if (const auto* running = std::get_if<Running>(&state)) {
    return &running->devices;
  }
  return nullptr;
}

std::string_view state_name(const JobState& state) { return std::visit(StateName{}, state); }

}  // namespace berth
