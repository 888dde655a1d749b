#include "cluster/cluster_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace berth {
namespace {

std::int64_t number_in(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The length of a key at the front of a word of Slurm's: "CPUAlloc=2", "S:C:T=…".
std::size_t key_length(std::string_view word) {
  const std::size_t at = word.find('=');
  if (at == word.npos || at == 0 || std::isupper(static_cast<unsigned char>(word[0])) == 0) {
    return 0;
  }
  const std::string_view key = word.substr(0, at);
  const bool fine = std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == ':';
  });
  return fine ? at : 0;
}

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = take_until(text, separator);
    if (!word.empty()) {
      words.emplace_back(word);
    }
  }
  return words;
}

/// "(null)" and "none" are Slurm's words for nothing.
std::string told(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() || found->second == "(null)" || found->second == "N/A"
             ? ""
             : found->second;
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

NodeState read_node(std::string_view line) {
  const std::map<std::string, std::string> values = parse_one_line(line);
  NodeState node;
  node.name = told(values, "NodeName");
  node.address = told(values, "NodeAddr");
  node.states = split_words(told(values, "State"), '+');
  for (std::string& state : node.states) {
    if (state.ends_with('*')) {  // its short form
      state.pop_back();
      node.states.emplace_back("NOT_RESPONDING");
      break;
    }
  }
  node.reason = told(values, "Reason");
  node.version = told(values, "Version");
  node.gres = told(values, "Gres");
  node.partitions = split_words(told(values, "Partitions"), ',');
  node.cpus = static_cast<int>(number_in(told(values, "CPUTot")));
  node.cpus_used = static_cast<int>(number_in(told(values, "CPUAlloc")));
  node.memory_mib = number_in(told(values, "RealMemory"));
  node.memory_used_mib = number_in(told(values, "AllocMem"));
  node.gpus = count_gpus(node.gres);
  node.gpus_used = count_gpus(told(values, "GresUsed"));
  return node;
}

}  // namespace

bool NodeState::is(std::string_view state) const {
  return std::find(states.begin(), states.end(), state) != states.end();
}

bool NodeState::well() const {
  constexpr std::string_view kBad[] = {"DOWN",  "DRAIN",   "FAIL",    "NOT_RESPONDING",
                                       "ERROR", "UNKNOWN", "INVALID", "INVALID_REG"};
  return !states.empty() && std::none_of(std::begin(kBad), std::end(kBad),
                                         [this](std::string_view bad) { return is(bad); });
}

std::string NodeState::words() const {
  if (states.empty()) {
    return "unknown";
  }
  std::string text = lower(states[0]);
  if (is("DRAIN")) {
    text = is("ALLOCATED") || is("MIXED") ? "draining" : "drained";
  }
  if (is("NOT_RESPONDING")) {
    text += ", not responding";
  }
  if (is("INVALID_REG")) {
    text += ", not as configured";
  }
  return text;
}

const NodeState* ClusterState::find(std::string_view node) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const NodeState& one) { return one.name == node; });
  return found == nodes.end() ? nullptr : &*found;
}

std::map<std::string, std::string> parse_one_line(std::string_view line) {
  std::map<std::string, std::string> values;
  std::string* last = nullptr;
  while (!line.empty()) {
    if (line.starts_with("Reason=")) {  // free text, and the last of them
      values["Reason"] = trim(line.substr(7));
      break;
    }
    const std::string_view word = take_until(line, ' ');
    if (const std::size_t key = key_length(word); key > 0) {
      last = &values[std::string(word.substr(0, key))];
      *last = word.substr(key + 1);
    } else if (last != nullptr && !word.empty()) {
      *last += fmt::format(" {}", word);
    }
  }
  return values;
}

std::vector<NodeState> parse_nodes(std::string_view text) {
  std::vector<NodeState> nodes;
  while (!text.empty()) {
    const std::string_view line = trim(take_until(text, '\n'));
    if (line.starts_with("NodeName=")) {
      nodes.push_back(read_node(line));
    }
  }
  return nodes;
}

std::vector<PartitionState> parse_partitions(std::string_view text) {
  std::vector<PartitionState> partitions;
  while (!text.empty()) {
    const std::map<std::string, std::string> values = parse_one_line(take_until(text, '\n'));
    if (values.contains("PartitionName")) {
      partitions.push_back({told(values, "PartitionName"), told(values, "State"),
                            told(values, "Nodes"), lower(told(values, "MaxTime")),
                            told(values, "Default") == "YES"});
    }
  }
  return partitions;
}

std::string config_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (trim(take_until(line, '=')) == key) {
      return std::string(trim(line));
    }
  }
  return "";
}

std::string conf_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    line = line.substr(0, line.find('#'));
    const std::string_view word = trim(take_until(line, '='));
    if (lower(word) == lower(key)) {
      return std::string(trim(line));
    }
  }
  return "";
}

int count_gpus(std::string_view gres) {
  int count = 0;
  int depth = 0;
  std::string plain;  // without what stands in brackets
  for (const char c : gres) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) {
      plain += c;
    }
    depth -= c == ')' ? 1 : 0;
  }
  for (const std::string& one : split_words(plain, ',')) {
    if (one == "gpu") {
      ++count;
    } else if (one.starts_with("gpu:")) {
      count += static_cast<int>(number_in(std::string_view(one).substr(one.rfind(':') + 1)));
    }
  }
  return count;
}

void read_hardware(std::string_view text, BoxFacts& facts) {
  const std::map<std::string, std::string> values = parse_one_line(take_until(text, '\n'));
  const auto number = [&](const std::string& key, std::int64_t otherwise) {
    const std::int64_t value = number_in(told(values, key));
    return value > 0 ? value : otherwise;
  };
  facts.sockets = static_cast<int>(number("Boards", 1) * number("SocketsPerBoard", 1));
  facts.cores = static_cast<int>(number("CoresPerSocket", 1));
  facts.threads = static_cast<int>(number("ThreadsPerCore", 1));
  facts.memory_mib = number("RealMemory", 1);
}

std::string read_version(std::string_view text) {
  text = trim(text);
  return std::string(text.substr(text.rfind(' ') + 1));
}

}  // namespace berth
