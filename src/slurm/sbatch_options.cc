#include "slurm/sbatch_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

namespace berth {
namespace {

using Options = std::vector<std::string>;

Failure refuse(std::string message) { return fail(ErrorCode::Usage, std::move(message)); }

/// The last value of an option that the user or the configuration gives; empty: none.
std::string_view value_of(std::string_view name, const Options& options) {
  std::string_view value;
  for (const std::string_view option : options) {
    if (option.starts_with(name) && option.substr(name.size()).starts_with('=')) {
      value = option.substr(name.size() + 1);
    }
  }
  return value;
}

bool serves(const ClusterNode& node, std::string_view partition, const ClusterFacts& facts) {
  const ClusterPartition* chosen = facts.find_partition(partition);
  return chosen == nullptr || std::find(node.partitions.begin(), node.partitions.end(),
                                        chosen->name) != node.partitions.end();
}

/// The one type of GPU in the cluster that has this text in its name.
Result<std::string> type_of(const std::string& model, const ClusterFacts& facts) {
  std::string wanted = model;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  std::set<std::string> types;
  for (const ClusterNode& node : facts.nodes) {
    for (const auto& [type, count] : node.gpus) {
      types.insert(type);
    }
  }
  types.erase("");
  if (!facts.known() || types.contains(wanted)) {
    return wanted;
  }
  std::vector<std::string> matching;
  std::copy_if(types.begin(), types.end(), std::back_inserter(matching),
               [&](const std::string& type) { return type.find(wanted) != type.npos; });
  if (matching.size() == 1) {
    return matching[0];
  }
  if (types.empty()) {
    return refuse("the cluster does not tell types of GPUs: omit --model");
  }
  return refuse(fmt::format("{} of the cluster's types of GPUs has '{}' in its name: it has {}",
                            matching.empty() ? "none" : "more than one", model,
                            fmt::join(types, ", ")));
}

Result<void> check_count(const Needs& needs, const std::string& type, std::string_view partition,
                         const ClusterFacts& facts) {
  std::uint32_t most = 0;
  for (const ClusterNode& node : facts.nodes) {
    if (serves(node, partition, facts)) {
      const auto typed = node.gpus.find(type);
      most = std::max(most, type.empty()               ? node.all_gpus()
                            : typed == node.gpus.end() ? 0
                                                       : typed->second);
    }
  }
  if (facts.known() && needs.gpus > most) {
    return refuse(fmt::format(
        "needs {} GPUs on one node, but {} of the cluster{} has more than {}", needs.gpus,
        "no node", partition.empty() ? "" : fmt::format(" in partition {}", partition), most));
  }
  return {};
}

/// A part of one GPU, in the units of which the cluster has so many on each.
Result<std::string> part_option(const Needs& needs, std::string_view kind,
                                std::uint32_t ClusterNode::*units, std::uint32_t thousandths,
                                const ClusterFacts& facts) {
  if (needs.gpus != 1) {
    return refuse(fmt::format("a part of a GPU can be had of one GPU only, not of {}", needs.gpus));
  }
  if (!facts.known()) {
    return fail(ErrorCode::Unavailable,
                "the cluster has not told yet how its GPUs can be shared: try again in a moment");
  }
  std::uint32_t each = 0;
  for (const ClusterNode& node : facts.nodes) {
    if (const std::uint32_t gpus = node.all_gpus(); gpus > 0) {
      each = std::max(each, node.*units / gpus);
    }
  }
  if (each == 0) {
    return refuse(fmt::format("the cluster has no {}, so its GPUs cannot be shared: omit {}",
                              kind == "mps" ? "MPS" : "shards",
                              kind == "mps" ? "--mps" : "--share"));
  }
  const std::uint32_t wanted = std::max(1U, (each * thousandths + 999) / 1000);
  return fmt::format("--gres={}:{}", kind, wanted);
}

bool has_shares(const ClusterFacts& facts, std::uint32_t ClusterNode::*units) {
  return std::any_of(facts.nodes.begin(), facts.nodes.end(),
                     [&](const ClusterNode& node) { return node.*units > 0; });
}

Result<void> add_gpus(const Needs& needs, std::string_view partition, const ClusterFacts& facts,
                      Options& options) {
  if (needs.gpus == 0) {
    return {};
  }
  std::string type;
  if (!needs.model.empty()) {
    Result<std::string> found = type_of(needs.model, facts);
    if (!found) {
      return Failure(found.error());
    }
    type = std::move(*found);
  }
  if (Result<void> enough = check_count(needs, type, partition, facts); !enough) {
    return enough;
  }
  const std::uint32_t percent = needs.thread_percentage;
  if (needs.mps != 0 || needs.share > 0) {
    const bool by_mps = needs.mps != 0 || !has_shares(facts, &ClusterNode::shards);
    const std::uint32_t part = needs.share > 0 ? needs.share : percent > 0 ? percent * 10 : 1000;
    Result<std::string> option =
        by_mps ? part_option(needs, "mps", &ClusterNode::mps, part, facts)
               : part_option(needs, "shard", &ClusterNode::shards, part, facts);
    if (!option) {
      return Failure(option.error());
    }
    options.push_back(std::move(*option));
    if (!type.empty()) {
      options.push_back("--constraint=" + type);
    }
    return {};
  }
  options.push_back(type.empty() ? fmt::format("--gpus-per-node={}", needs.gpus)
                                 : fmt::format("--gpus-per-node={}:{}", type, needs.gpus));
  return {};
}

/// Slurm's own limit is for jobs whose daemon is not there: berth ends them first.
std::string time_option(const JobSpec& spec, std::string_view partition,
                        const ClusterFacts& facts) {
  if (spec.limit != kForever) {
    constexpr Duration kMargin = std::chrono::minutes(2);
    const auto minutes = (spec.limit + kMargin + std::chrono::minutes(1) - Duration(1)) /
                         Duration(std::chrono::minutes(1));
    return fmt::format("--time={}", minutes);
  }
  const ClusterPartition* chosen = facts.find_partition(partition);
  return fmt::format("--time={}",
                     chosen == nullptr || chosen->longest.empty() ? "UNLIMITED" : chosen->longest);
}

}  // namespace

Result<void> check_raw_option(const std::string& option) {
  constexpr std::array<std::string_view, 22> kOurs = {"--array",       "--job-name",
                                                      "--comment",     "--output",
                                                      "--error",       "--input",
                                                      "--chdir",       "--parsable",
                                                      "--wrap",        "--export",
                                                      "--requeue",     "--no-requeue",
                                                      "--wait",        "--hold",
                                                      "--test-only",   "--dependency",
                                                      "--begin",       "--open-mode",
                                                      "--nodes",       "--ntasks",
                                                      "--export-file", "--kill-on-invalid-dep"};
  const std::string_view name = std::string_view(option).substr(0, option.find('='));
  if (!name.starts_with("--") || name.size() < 3) {
    return refuse(fmt::format("'{}' is not an option of sbatch: write it as --name=value", option));
  }
  if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
    return refuse(fmt::format("{} is set by berth: use berth's own option for that", name));
  }
  if (option.find('\n') != option.npos) {
    return refuse("an option of sbatch is one line");
  }
  return {};
}

Result<Options> sbatch_options(const JobSpec& spec, const ClusterDefaults& defaults,
                               const ClusterFacts& facts) {
  const Needs& needs = spec.needs;
  Options raw = defaults.options;
  raw.insert(raw.end(), needs.target_options.begin(), needs.target_options.end());
  for (const std::string& option : raw) {
    if (const Result<void> checked = check_raw_option(option); !checked) {
      return Failure(checked.error());
    }
  }
  for (const auto& [names, option] : {std::pair{&needs.only, "--only"},
                                      {&needs.exclude, "--exclude"},
                                      {&needs.prefer, "--prefer"}}) {
    if (!names->empty()) {
      return refuse(
          fmt::format("{} names GPUs of this machine; for a cluster, choose nodes by "
                      "--slurm-option=--nodelist=… or --slurm-option=--exclude=…",
                      option));
    }
  }
  if (needs.profile > Duration{}) {
    return refuse("a run to measure memory is for GPUs of this machine: omit --profile");
  }
  if (spec.priority < 0) {
    return refuse(
        fmt::format("priority {} cannot be had on a cluster: Slurm lets users only lower "
                    "the priority of their jobs (0 and more)",
                    spec.priority));
  }
  const std::string_view partition = value_of("--partition", raw);
  if (!partition.empty() && !facts.partitions.empty() &&
      facts.find_partition(partition) == nullptr) {
    return refuse(fmt::format("the cluster has no partition '{}'", partition));
  }
  Options options = {"--nodes=1", "--ntasks=1"};
  if (const Result<void> added = add_gpus(needs, partition, facts, options); !added) {
    return Failure(added.error());
  }
  if (value_of("--time", raw).empty()) {
    options.push_back(time_option(spec, partition, facts));
  }
  if (spec.priority > 0) {
    options.push_back(fmt::format("--nice={}", spec.priority));
  }
  options.emplace_back(spec.retry.when_lost ? "--requeue" : "--no-requeue");
  options.insert(options.end(), raw.begin(), raw.end());
  return options;
}

}  // namespace berth
