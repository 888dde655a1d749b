#include "train/reward.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/units.h"

namespace berth {
namespace {

struct Kind {
  std::string_view name;
  double (*cost)(const Summary&);
};

constexpr std::array kKinds = {
    Kind{"slowdown", [](const Summary& s) { return s.bounded_slowdown.mean; }},
    Kind{"completion", [](const Summary& s) { return s.completion_s.mean; }},
    Kind{"wait", [](const Summary& s) { return s.wait_s.mean; }},
    Kind{"makespan", [](const Summary& s) { return s.makespan_s; }},
    Kind{"seed", [](const Summary& s) { return -s.reward; }},
};

struct Part {
  std::string_view name;
  double Reward::*weight;
};

constexpr std::array kParts = {
    Part{"makespan", &Reward::makespan},
    Part{"p99", &Reward::p99},
    Part{"energy", &Reward::energy},
    Part{"fairness", &Reward::fairness},
};

}  // namespace

double Reward::cost_of(const Summary& summary) const {
  const double jobs = std::max<double>(static_cast<double>(summary.jobs), 1);
  const double plain = cost(summary) + makespan * summary.makespan_s + p99 * summary.wait_s.p99 +
                       energy * summary.energy_j / 3.6e6 / jobs;
  return plain * (1 + fairness * (1 - summary.jain_index));
}

Result<Reward> parse_reward(std::string_view text) {
  Reward reward;
  reward.name = std::string(take_until(text, ','));
  for (const Kind& kind : kKinds) {
    if (kind.name == reward.name) {
      reward.cost = kind.cost;
    }
  }
  if (reward.cost == nullptr) {
    return fail(ErrorCode::Usage,
                fmt::format("there is no reward '{}': choose slowdown, completion, wait, makespan "
                            "or seed",
                            reward.name));
  }
  while (!text.empty()) {
    std::string_view word = take_until(text, ',');
    const std::string_view name = take_until(word, '=');
    const Result<double> weight = parse_real(word, name);
    const auto part = std::find_if(kParts.begin(), kParts.end(),
                                   [&](const Part& each) { return each.name == name; });
    if (part == kParts.end() || !weight || !(*weight >= 0)) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}' is no part of a reward: write makespan=WEIGHT, p99=WEIGHT, "
                              "energy=WEIGHT or fairness=WEIGHT, like slowdown,fairness=0.5",
                              name));
    }
    reward.*part->weight = *weight;
  }
  return reward;
}

std::string describe(const Reward& reward) {
  std::string text = reward.name;
  for (const Part& part : kParts) {
    text += reward.*part.weight > 0 ? fmt::format(",{}={:g}", part.name, reward.*part.weight) : "";
  }
  return text;
}

}  // namespace berth
