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

bool satisfied(Dependency::When when, Outcome outcome) {
  switch (when) {
    case Dependency::When::Ok:
      return outcome == Outcome::Succeeded;
    case Dependency::When::NotOk:
      return outcome != Outcome::Succeeded;
    case Dependency::When::Any:
      return true;
  }
  return false;
}

std::string_view state_name(const JobState& state) { return std::visit(StateName{}, state); }

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Succeeded:
      return "succeeded";
    case Outcome::Failed:
      return "failed";
    case Outcome::Cancelled:
      return "cancelled";
    case Outcome::TimedOut:
      return "timed_out";
    case Outcome::Oom:
      return "oom";
    case Outcome::Lost:
      return "lost";
  }
  return "";
}

}  // namespace berth
