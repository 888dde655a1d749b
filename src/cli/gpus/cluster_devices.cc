#include "cli/gpus/cluster_devices.h"

#include <fmt/format.h>
#include <unistd.h>

#include "api/json_writer.h"
#include "base/paths.h"
#include "cli/toolkit/table.h"
#include "slurm/cluster_config.h"
#include "slurm/cluster_facts.h"
#include "slurm/cluster_holders.h"
#include "slurm/slurm_call.h"
#include "slurm/slurm_words.h"

namespace berth {
namespace {

Result<std::string> ask(const SlurmSettings& cluster, std::vector<std::string> words) {
  SlurmCall call;
  const std::string path = find_program(cluster.bin, words[0]);
  words[0] = path.empty() ? words[0] : path;
  call.words = std::move(words);
  call.patience = cluster.patience;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    call.environment.emplace_back(*entry);
  }
  call.environment = slurm_environment(std::move(call.environment), cluster.conf);
  const SlurmAnswer answer = run_slurm_call(call, -1);
  if (!answer.ok()) {
    return fail(ErrorCode::Unavailable,
                fmt::format("{} does not answer: {}", cluster.name, last_complaint(answer.errors)));
  }
  return answer.output;
}

struct DeviceLine {
  std::string node;
  std::uint32_t gpu = 0;
  std::string type;
  std::string state;   // of the node, in small letters
  std::string reason;  // of a node that is down or drained
  DeviceHolder holder;
};

std::vector<DeviceLine> lines_of(
    const std::vector<ClusterNode>& nodes,
    const std::map<std::pair<std::string, std::uint32_t>, DeviceHolder>& holders) {
  std::vector<DeviceLine> lines;
  for (const ClusterNode& node : nodes) {
    std::string state = node.state;
    for (char& each : state) {
      each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    }
    std::uint32_t gpu = 0;
    for (const auto& [type, count] : node.gpus) {
      for (std::uint32_t i = 0; i < count; ++i, ++gpu) {
        DeviceLine line{node.name, gpu, type, state, node.reason, {}};
        if (const auto held = holders.find({node.name, gpu}); held != holders.end()) {
          line.holder = held->second;
        }
        lines.push_back(std::move(line));
      }
    }
  }
  return lines;
}

std::string as_json(const std::vector<DeviceLine>& lines) {
  JsonWriter json;
  json.object([&] {
    json.array("devices", [&] {
      for (const DeviceLine& line : lines) {
        json.object([&] {
          json.field("node", line.node);
          json.field("gpu", line.gpu);
          json.field("type", line.type);
          json.field("node_state", line.state);
          if (!line.reason.empty()) {
            json.field("reason", line.reason);
          }
          if (!line.holder.job.empty()) {
            json.field("slurm_job", line.holder.job);
            json.field("user", line.holder.user);
            json.field("name", line.holder.name);
          }
        });
      }
    });
  });
  return json.take() + '\n';
}

}  // namespace

Result<std::string> cluster_devices(const std::string& cluster, bool json,
                                    const Terminal& terminal) {
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  const Result<SlurmSettings> settings = find_cluster(paths->config + "/clusters", cluster);
  if (!settings) {
    return Failure(settings.error());
  }
  const Result<std::string> nodes =
      ask(*settings, {"scontrol", "--oneliner", "--details", "show", "nodes"});
  const Result<std::string> jobs =
      nodes ? ask(*settings, {"scontrol", "--oneliner", "--details", "show", "job"}) : nodes;
  if (!jobs) {
    return Failure(jobs.error());
  }
  const std::vector<DeviceLine> lines = lines_of(read_nodes(*nodes), read_holders(*jobs));
  if (json) {
    return as_json(lines);
  }
  Table table;
  table.column("NODE");
  table.column("GPU", Align::Right);
  table.column("TYPE");
  table.column("STATE");
  table.column("JOB");
  table.column("USER");
  table.yielding_column("NAME");
  table.optional_column("REASON");
  for (const DeviceLine& line : lines) {
    table.row({line.node, std::to_string(line.gpu), line.type, line.state,
               line.holder.job.empty() ? "-" : line.holder.job, line.holder.user,
               printable(line.holder.name), printable(line.reason)});
  }
  return table.render(terminal.columns, terminal.colour);
}

}  // namespace berth
