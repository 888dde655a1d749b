// What a learned rank sees of a waiting job and of everything else. All numbers are near 0 to 1, so
// that weights of one size mean as much for each, and none of them depends on how many jobs wait or
// how many devices there are: a model works on other machines than the one it was trained on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "core/queue.h"
#include "rl/lanes.h"

namespace berth {

/// A waiting job that the policy compares with others. What does not change while it waits is
/// worked out once, when it joins.
struct RankedJob {
  QueueKey key;
  ShapeId shape;
  OwnerId owner;
  Time submitted;
  Duration length{};  // expected; kForever: unknown
  std::uint32_t gpus = 0;
  bool alone = false;     // it wants whole devices
  double log_length = 0;  // ln(1 + expected seconds) / 10; an hour where nobody knows
  double log_gpus = 0;    // ln(1 + GPUs) / 5
  double share = 0;       // of the compute of each of its devices, 0 to 1
  double memory = 0;      // claimed on each device, in bytes
  double priority = 0;    // p / (4 + |p|)
};
RankedJob describe_job(const Job& job, const Needs& needs);

/// What is the same for all waiting jobs at one moment.
struct Rest {
  double waiting = 0;      // ln(1 + jobs that wait) / 10
  double idle = 0;         // part of the devices that are idle, 0 to 1
  double mean_length = 0;  // of the candidates, as above
  double mean_gpus = 0;    // of the candidates, as above
  std::size_t idle_devices = 0;
  std::size_t serving = 1;   // devices that may take jobs
  double device_memory = 0;  // of the largest device, in bytes; 0: unknown
};

/// What can be seen of one job, in this order.
inline constexpr std::array<std::string_view, 11> kSightNames = {
    "length", "gpus",     "wait", "no_room", "share", "memory",
    "use",    "priority", "part", "slack",   "gap"};
inline constexpr std::size_t kSights = kSightNames.size();
inline constexpr std::size_t kWaitSight = 2;
inline constexpr std::size_t kRoomSight = 3;
inline constexpr std::size_t kSlackSight = 9;
inline constexpr std::size_t kGapSight = 10;
template <class Number>  // double, or Lanes for two jobs
using SightOf = std::array<Number, kSights>;
using Sight = SightOf<double>;

/// What depends on the moment.
struct Momentary {
  Time now;
  bool fits = false;  // as far as is known, the job finds devices now
  double use = 0;     // its owner's recent part of the machine, 0 to 1
  double slack = 0;   // what stays free on the device that the job fills best, 0 to 1
  double gap = 0;     // and what is left of that beside the waiting job that fills it best
};
Sight look_at(const RankedJob& job, const Rest& rest, const Momentary& moment);

/// The same before it is brought near 0 to 1: the wait in seconds, the memory in bytes and the part
/// in devices. That work is done for two jobs at once: first log_wait(), then sight_of().
inline Sight glance_at(const RankedJob& job, const Momentary& moment) {
  return {job.log_length,
          job.log_gpus,
          std::max(to_seconds(moment.now - job.submitted), 0.0),
          moment.fits ? 0.0 : 1.0,
          job.share,
          job.memory,
          moment.use,
          job.priority,
          static_cast<double>(job.gpus),
          moment.slack,
          moment.gap};
}
template <class Number>
Number log_wait(const Number& seconds) {
  return log_of_one_and(seconds) * 0.1;
}
template <class Number>
SightOf<Number> sight_of(const SightOf<Number>& glance, const Rest& rest) {
  const auto [length, gpus, wait, no_room, share, bytes, use, priority, devices, slack, gap] =
      glance;
  const Number memory = rest.device_memory > 0 ? bytes / rest.device_memory : Number{};
  const Number part = devices / static_cast<double>(rest.serving);
  const Number all = Number{} + 1.0;
  return {length,  gpus,     wait,
          no_room, share,    memory < all ? memory : all,
          use,     priority, part < all ? part : all,
          slack,   gap};
}

/// The terms of a linear rank: the sights, and those of their products that order jobs. What is the
/// same for all jobs counts only as a factor.
inline constexpr std::array<std::string_view, 28> kTermNames = {
    "length",        "gpus",         "wait",           "length*length", "gpus*gpus",
    "wait*wait",     "length*gpus",  "length*wait",    "gpus*wait",     "no_room",
    "no_room*wait",  "no_room*gpus", "share",          "memory",        "use",
    "priority",      "part",         "waiting*length", "waiting*gpus",  "waiting*wait",
    "idle*length",   "idle*gpus",    "slack",          "length*share",  "waiting*slack",
    "waiting*share", "gap",          "waiting*gap"};
inline constexpr std::size_t kTerms = kTermNames.size();
template <class Number>
using TermsOf = std::array<Number, kTerms>;
using Terms = TermsOf<double>;
template <class Number>
TermsOf<Number> terms_of(const SightOf<Number>& sight, const Rest& rest);

/// What a network sees of a job: the sights, and the rest.
inline constexpr std::size_t kOthers = 4;
inline constexpr std::size_t kInputs = kSights + kOthers;
using Inputs = std::array<double, kInputs>;
inline std::array<double, kOthers> others_of(const Rest& rest) {
  return {rest.waiting, rest.idle, rest.mean_length, rest.mean_gpus};
}
Inputs inputs_of(const Sight& sight, const Rest& rest);

template <class Number>
TermsOf<Number> terms_of(const SightOf<Number>& sight, const Rest& rest) {
  const auto& [length, gpus, wait, no_room, share, memory, use, priority, part, slack, gap] = sight;
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

}  // namespace berth
