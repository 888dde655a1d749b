#include "slurm/cluster_facts.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "slurm/squeue_table.h"

namespace berth {
namespace {

std::uint32_t number_in(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  return made;
}

/// The value of `KEY=value` in a line of scontrol's; only Reason has blanks in it.
std::string_view value_of(std::string_view line, std::string_view key) {
  for (std::size_t at = line.find(key); at != line.npos; at = line.find(key, at + 1)) {
    const std::size_t begin = at + key.size();
    if ((at == 0 || line[at - 1] == ' ') && begin < line.size() && line[begin] == '=') {
      const std::string_view rest = line.substr(begin + 1);
      return rest.substr(0, key == "Reason" ? rest.find(" [") : rest.find(' '));
    }
  }
  return {};
}

/// "gpu:a100:4,shard:a100:16" or "gpu:4(S:0-1)", where a comma may be within brackets.
std::vector<std::string_view> split_gres(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    }
  }
  return parts;
}

void read_gres(std::string_view text, ClusterNode& node) {
  for (std::string_view part : split_gres(text)) {
    part = part.substr(0, part.find('('));
    const std::string_view kind = take_until(part, ':');
    const std::size_t colon = part.rfind(':');
    const std::uint32_t count = number_in(colon == part.npos ? part : part.substr(colon + 1));
    if (kind == "gpu") {
      node.gpus[lower(colon == part.npos ? "" : part.substr(0, colon))] += count;
    } else if (kind == "shard") {
      node.shards += count;
    } else if (kind == "mps") {
      node.mps += count;
    }
  }
}

/// "gpu:a100:2(IDX:0-1),shard:a100:0(0/4,0/4)".
void read_used(std::string_view text, ClusterNode& node) {
  for (const std::string_view part : split_gres(text)) {
    const std::size_t numbers = part.find("(IDX:");
    if (!part.starts_with("gpu") || numbers == part.npos) {
      continue;
    }
    const std::string_view list = part.substr(numbers + 5, part.size() - numbers - 6);
    for (const auto& [first, last] : read_indices(list)) {
      for (std::uint32_t each = first; each <= last; ++each) {
        node.used.push_back(each);
      }
    }
  }
}

}  // namespace

std::uint32_t ClusterNode::all_gpus() const {
  std::uint32_t all = 0;
  for (const auto& [type, count] : gpus) {
    all += count;
  }
  return all;
}

const ClusterPartition* ClusterFacts::find_partition(std::string_view name) const {
  const auto found =
      std::find_if(partitions.begin(), partitions.end(), [&](const ClusterPartition& each) {
        return name.empty() ? each.is_default : each.name == name;
      });
  return found == partitions.end() ? nullptr : &*found;
}

std::vector<ClusterNode> read_nodes(std::string_view output) {
  std::vector<ClusterNode> nodes;
  while (!output.empty()) {
    const std::string_view line = take_until(output, '\n');
    ClusterNode node;
    node.name = value_of(line, "NodeName");
    if (node.name.empty()) {
      continue;
    }
    node.state = value_of(line, "State");
    node.reason = trim(value_of(line, "Reason"));
    std::string_view partitions = value_of(line, "Partitions");
    while (!partitions.empty()) {
      node.partitions.emplace_back(take_until(partitions, ','));
    }
    if (const std::string_view gres = value_of(line, "Gres"); gres != "(null)") {
      read_gres(gres, node);
    }
    read_used(value_of(line, "GresUsed"), node);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<ClusterPartition> read_partitions(std::string_view output) {
  std::vector<ClusterPartition> partitions;
  while (!output.empty()) {
    const std::string_view line = take_until(output, '\n');
    ClusterPartition partition;
    partition.name = value_of(line, "PartitionName");
    partition.is_default = value_of(line, "Default") == "YES";
    partition.longest = value_of(line, "MaxTime");
    if (!partition.name.empty()) {
      partitions.push_back(std::move(partition));
    }
  }
  return partitions;
}

void read_config(std::string_view output, ClusterFacts& facts) {
  while (!output.empty()) {
    std::string_view line = take_until(output, '\n');
    const std::string_view key = trim(take_until(line, '='));
    const std::string_view value = trim(line);
    if (key == "MaxArraySize" && number_in(value) > 0) {
      facts.array_size = number_in(value);
    } else if (key == "AccountingStorageType") {
      facts.accounting = value != "accounting_storage/none" && value != "(null)";
    }
  }
}

}  // namespace berth
