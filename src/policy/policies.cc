#include "policy/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/units.h"
#include "policy/learned.h"
#include "policy/make.h"
#include "rl/model_file.h"
#include "rl/packed_name.h"

namespace berth {
namespace {

struct Entry {
  std::string_view name;
  std::string_view about;
  std::unique_ptr<Policy> (*make)(const PolicyOptions&);
};

using Options = const PolicyOptions&;

constexpr std::array kPolicies = {
    Entry{"priority", "short jobs soon, nobody late, owners in turn; priorities come first",
          [](Options options) { return make_priority(options.priority); }},
    Entry{"fifo", "first come, first served; nothing overtakes",
          [](Options) { return make_fifo(); }},
    Entry{"sjf", "shortest expected length first",
          [](Options) { return make_in_order(kSjfOrder); }},
    Entry{"lpt", "longest expected length first", [](Options) { return make_in_order(kLptOrder); }},
    Entry{"f1", "length, size and age in one formula, found by regression",
          [](Options options) { return make_in_order(kF1Order.from(options.begin)); }},
    Entry{"easy", "first come, first served; others go past the first if that does not delay it",
          [](Options) { return make_easy(kFifoOrder); }},
    Entry{"conservative", "others go past if that delays nobody",
          [](Options) { return make_conservative(); }},
    Entry{"srtf", "shortest remaining time first; preempts", [](Options) { return make_srtf(); }},
    Entry{"srsf", "shortest remaining GPU time first; preempts",
          [](Options) { return make_srsf(); }},
    Entry{"las", "least GPU time used first, in levels; preempts",
          [](Options options) {
            return make_las(options.las_first, options.las_second, options.las_patience);
          }},
    Entry{"lottery", "a draw between owners; weights are tickets",
          [](Options options) { return make_lottery(options.seed); }},
    Entry{"stride", "GPU time in proportion to the owners' weights",
          [](Options) { return make_stride(); }},
    Entry{"wfq", "weighted fair queueing between owners", [](Options) { return make_wfq(); }},
    Entry{"fair", "the owner who has used the least lately goes first",
          [](Options options) { return make_fair(options.half_life); }},
    Entry{"drf", "the owner with the smallest dominant share goes first",
          [](Options options) { return make_drf(options.half_life); }},
    Entry{"energy", "as many as a power budget allows: energy:WATTS",
          [](Options options) { return make_energy(options.power_budget); }},
    Entry{"rr", "everybody runs for a slice in turn; preempts",
          [](Options options) { return make_round_robin(options.slice, options.preemption_cost); }},
    Entry{"rl", "a rank that was learned in the simulator; rl:FILE uses a model of your own",
          [](Options) { return make_learned(shipped_model()); }},
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

std::string_view policy_about(std::string_view name) {
  for (const Entry& entry : kPolicies) {
    if (entry.name == name) {
      return entry.about;
    }
  }
  return "";
}

namespace {

/// `fair:6h` and `priority:6h`: after which an owner's use counts half. Nothing for other names.
std::optional<Result<std::unique_ptr<Policy>>> make_with_half_life(std::string_view name,
                                                                   PolicyOptions options) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view kind = name.substr(0, colon);
  if (colon == name.size() || (kind != "fair" && kind != "priority")) {
    return std::nullopt;
  }
  const Result<Duration> half_life = parse_duration(name.substr(colon + 1));
  if (!half_life || *half_life <= Duration{}) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' has no half-life: write a time, like {}:6h", name, kind));
  }
  options.half_life = options.priority.half_life = *half_life;
  return make_policy(kind, options);
}

}  // namespace

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyOptions& options) {
  if (auto made = make_with_half_life(name, options)) {
    return std::move(*made);
  }
  constexpr std::string_view kBudget = "energy:";
  if (name.starts_with(kBudget)) {
    const Result<double> watts = parse_real(name.substr(kBudget.size()), "the power budget");
    if (!watts || !(*watts > 0)) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}' has no power budget: write watts, like energy:1500", name));
    }
    return make_energy(*watts);
  }
  if (name.starts_with(kLearnedPrefix)) {
    Result<Model> model = unpack_model(name);
    return model ? Result<std::unique_ptr<Policy>>(make_learned(std::move(*model)))
                 : Failure(model.error());
  }
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
        return rule.make(order->from(options.begin));
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
