// ClusterState: what Slurm tells of the cluster, read from its commands' output. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/box_facts.h"

namespace berth {

struct NodeState {
  std::string name;
  std::string address;
  std::vector<std::string> states;  // "IDLE", "DRAIN", "NOT_RESPONDING", "DYNAMIC_NORM", …
  std::string reason;               // why it is drained or down; empty when nobody said
  std::string version;              // of its slurmd; empty while it has not registered
  std::string gres;                 // "gpu:a100:2"
  std::vector<std::string> partitions;
  int cpus = 0;
  int cpus_used = 0;
  std::int64_t memory_mib = 0;
  std::int64_t memory_used_mib = 0;
  int gpus = 0;
  int gpus_used = 0;

  bool is(std::string_view state) const;
  /// It joined by `slurmd -Z`, without a line in slurm.conf.
  bool dynamic() const { return is("DYNAMIC_NORM"); }
  /// It takes jobs, or would if it were not full.
  bool well() const;
  /// For people: "idle", "drained", "down, not responding".
  std::string words() const;
};

struct PartitionState {
  std::string name;
  std::string state;  // "UP"
  std::string nodes;  // "head,n[2-3]"
  std::string most_time;
  bool is_default = false;
};

struct ClusterState {
  std::string name;
  std::string head;
  std::string version;
  std::vector<NodeState> nodes;
  std::vector<PartitionState> partitions;

  const NodeState* find(std::string_view node) const;
};

/// One line of `scontrol --oneliner`: its keys and values. A value may hold blanks.
std::map<std::string, std::string> parse_one_line(std::string_view line);
/// `scontrol --oneliner --details show node`.
std::vector<NodeState> parse_nodes(std::string_view text);
/// `scontrol --oneliner show partition`.
std::vector<PartitionState> parse_partitions(std::string_view text);
/// A line "Key = value" of `scontrol show config`; empty when there is none.
std::string config_value(std::string_view text, std::string_view key);
/// A line "Key=value" of slurm.conf; empty when there is none.
std::string conf_value(std::string_view text, std::string_view key);
/// How many GPUs "gpu:a100:2(IDX:0-1),gpu:t4:1" are.
int count_gpus(std::string_view gres);
/// Puts what `slurmd -C` tells into the facts.
void read_hardware(std::string_view text, BoxFacts& facts);
/// "slurm-wlm 22.05.8" without the words.
std::string read_version(std::string_view text);

}  // namespace berth
