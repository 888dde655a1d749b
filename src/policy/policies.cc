#include "policy/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policy/make.h"

namespace berth {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(const PolicyOptions&);
};

using Options = const PolicyOptions&;

constexpr std::array kPolicies = {
    Entry{"priority", [](Options options) { return make_priority(options.priority); }},
    Entry{"fifo", [](Options) { return make_fifo(); }},
    Entry{"sjf", [](Options) { return make_in_order(kSjfOrder); }},
    Entry{"lpt", [](Options) { return make_in_order(kLptOrder); }},
    Entry{"f1", [](Options) { return make_in_order(kF1Order); }},
    Entry{"easy", [](Options) { return make_easy(kFifoOrder); }},
    Entry{"conservative", [](Options) { return make_conservative(); }},
    Entry{"srtf", [](Options) { return make_srtf(); }},
    Entry{"srsf", [](Options) { return make_srsf(); }},
    Entry{"las", [](Options options) { return make_las(options.las_first, options.las_second); }},
    Entry{"lottery", [](Options options) { return make_lottery(options.seed); }},
    Entry{"stride", [](Options) { return make_stride(); }},
    Entry{"wfq", [](Options) { return make_wfq(); }},
    Entry{"fair", [](Options options) { return make_fair(options.half_life); }},
    Entry{"drf", [](Options) { return make_drf(); }},
    Entry{"energy", [](Options options) { return make_energy(options.power); }},
    Entry{"rr", [](Options options) { return make_round_robin(options.slice); }},
};

struct Rule {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(const Order&);
};

/// What may follow an order after a `+`.
constexpr std::array kRules = {
    Rule{"easy", make_easy},
    Rule{"commit", make_commit},
    Rule{"commit+backfill", make_commit_backfill},
};

const Order* find_order(std::string_view name) {
  for (const Order* order : {&kFifoOrder, &kSjfOrder, &kLptOrder, &kF1Order}) {
    if (order->name == name) {
      return order;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kPolicies) {
    names.push_back(entry.name);
  }
  return names;
}

std::vector<std::string_view> live_policy_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kPolicies) {
    if (!entry.make({})->preempts()) {
      names.push_back(entry.name);
    }
  }
  return names;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyOptions& options) {
  for (const Entry& entry : kPolicies) {
    if (entry.name == name) {
      return entry.make(options);
    }
  }
  const std::size_t plus = name.find('+');
  if (plus != std::string_view::npos) {
    const Order* order = find_order(name.substr(0, plus));
    for (const Rule& rule : kRules) {
      if (order != nullptr && rule.name == name.substr(plus + 1)) {
        return rule.make(*order);
      }
    }
  }
  return fail(ErrorCode::Usage, fmt::format("there is no policy '{}': choose one of {}", name,
                                            fmt::join(policy_names(), ", ")));
}

Result<std::unique_ptr<Policy>> make_live_policy(std::string_view name) {
  Result<std::unique_ptr<Policy>> policy = make_policy(name);
  if (policy && (*policy)->preempts()) {
    return fail(ErrorCode::Usage,
                fmt::format("policy {} needs preemption, which only the simulator has: choose one "
                            "of {}",
                            name, fmt::join(live_policy_names(), ", ")));
  }
  return policy;
}

}  // namespace berth
