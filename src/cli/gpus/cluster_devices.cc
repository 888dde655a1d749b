#include "cli/gpus/cluster_devices.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/paths.h"
#include "cli/toolkit/table.h"
#include "daemon/cluster_look.h"
#include "slurm/cluster_config.h"
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
  const ClusterDevicesReply found = read_cluster_devices(*nodes, *jobs);
  if (json) {
    return to_json(found) + '\n';
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
  for (const ClusterDeviceReport& line : found.devices) {
    table.row({line.node, std::to_string(line.gpu), line.type, line.node_state,
               line.slurm_job.empty() ? "-" : line.slurm_job, line.user, printable(line.name),
               printable(line.reason)});
  }
  return table.render(terminal.columns, terminal.colour);
}

}  // namespace berth
