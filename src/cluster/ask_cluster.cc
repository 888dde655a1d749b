#include "cluster/ask_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "base/text.h"

namespace berth {

Result<ClusterState> ask_cluster(Commands& commands) {
  ClusterState cluster;
  const Result<std::string> config = run_or_fail(commands, {"scontrol", "show", "config"});
  if (!config) {
    return Failure(config.error());
  }
  cluster.name = config_value(*config, "ClusterName");
  cluster.version = config_value(*config, "SLURM_VERSION");
  cluster.head = config_value(*config, "SlurmctldHost[0]");
  cluster.head = cluster.head.substr(0, cluster.head.find('('));  // "head(192.168.1.10)"
  const Result<std::string> nodes =
      run_or_fail(commands, {"scontrol", "--oneliner", "--details", "show", "node"});
  if (!nodes) {
    return Failure(nodes.error());
  }
  cluster.nodes = parse_nodes(*nodes);
  const Result<std::string> partitions =
      run_or_fail(commands, {"scontrol", "--oneliner", "show", "partition"});
  if (!partitions) {
    return Failure(partitions.error());
  }
  cluster.partitions = parse_partitions(*partitions);
  return cluster;
}

Result<void> wait_for_node(Commands& commands, const std::string& node, Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  Error last{ErrorCode::Timeout, fmt::format("{} did not come up", node)};
  while (std::chrono::steady_clock::now() < deadline) {
    const Result<std::string> told =
        run_or_fail(commands, {"scontrol", "--oneliner", "show", "node", node});
    const std::vector<NodeState> nodes = parse_nodes(told ? *told : "");
    if (!nodes.empty() && nodes[0].well()) {
      return {};
    }
    if (!told) {
      last = told.error();
    } else if (!nodes.empty()) {
      last.message = fmt::format("{} is {}{}{}", node, nodes[0].words(),
                                 nodes[0].reason.empty() ? "" : ": ", nodes[0].reason);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return Failure(last);
}

std::string end_of_log(const std::string& path) {
  constexpr off_t kEnd = 256 * 1024;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = file ? ::lseek(file.get(), 0, SEEK_END) : 0;
  std::string text(static_cast<std::size_t>(std::min(size, kEnd)), '\0');
  if (text.empty() ||
      ::pread(file.get(), text.data(), text.size(), size - static_cast<off_t>(text.size())) < 0) {
    return "";
  }
  return text;
}

std::vector<std::string> last_errors(std::string_view log, std::size_t most) {
  std::vector<std::string> errors;
  while (!log.empty()) {
    std::string_view line = take_until(log, '\n');
    const std::size_t at = std::min(line.find("fatal: "), line.find("error: "));
    if (at != line.npos) {
      errors.emplace_back(trim(line.substr(at + 7)));
    }
  }
  if (errors.size() > most) {
    errors.erase(errors.begin(), errors.end() - static_cast<std::ptrdiff_t>(most));
  }
  return errors;
}

Error with_log(Error error, const std::string& log) {
  const std::vector<std::string> said = last_errors(end_of_log(log), 1);
  if (!said.empty()) {
    error.message += fmt::format("; {} ends with: {}", log, said[0]);
  }
  return error;
}

}  // namespace berth
