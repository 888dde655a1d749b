// What a cluster is made of, from scontrol's words. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

struct ClusterNode {
  std::string name;
  std::string state;   // "IDLE", "MIXED+DRAIN"
  std::string reason;  // why it is down or drained; empty: it is not
  std::vector<std::string> partitions;
  std::map<std::string, std::uint32_t> gpus;  // by type, in lower case; "" where none is told
  std::vector<std::uint32_t> used;            // the numbers of the GPUs that jobs have
  std::uint32_t shards = 0;                   // of all its GPUs
  std::uint32_t mps = 0;                      // likewise

  std::uint32_t all_gpus() const;
};

struct ClusterPartition {
  std::string name;
  bool is_default = false;
  std::string longest;  // as Slurm writes times; "UNLIMITED"
};

struct ClusterFacts {
  std::vector<ClusterNode> nodes;
  std::vector<ClusterPartition> partitions;
  std::uint32_t array_size = 1001;  // indices of an array are below it
  bool accounting = false;          // sacct knows ended jobs

  bool known() const { return !nodes.empty(); }
  /// The partition that jobs get which name none; nullptr: there is none, or it is unknown.
  const ClusterPartition* find_partition(std::string_view name) const;
};

/// `scontrol --oneliner --details show nodes`.
std::vector<ClusterNode> read_nodes(std::string_view output);
/// `scontrol --oneliner show partition`.
std::vector<ClusterPartition> read_partitions(std::string_view output);
/// `scontrol show config`.
void read_config(std::string_view output, ClusterFacts& facts);

}  // namespace berth
