// `berth cluster status`: nodes, GPUs, partitions, and what is drained and why.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "api/json_writer.h"
#include "cli/cluster/cluster_options.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "cluster/ask_cluster.h"

namespace berth {
namespace {

std::string cluster_json(const ClusterState& cluster) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("cluster", cluster.name);
    json.field("head", cluster.head);
    json.field("slurm", cluster.version);
    json.array("nodes", [&] {
      for (const NodeState& node : cluster.nodes) {
        json.object([&] {
          json.field("name", node.name);
          json.field("address", node.address);
          json.field("state", node.words());
          json.field("well", node.well());
          json.field("reason", node.reason);
          json.field("slurm", node.version);
          json.field("cpus", node.cpus);
          json.field("cpus_used", node.cpus_used);
          json.field("memory_mib", node.memory_mib);
          json.field("memory_used_mib", node.memory_used_mib);
          json.field("gres", node.gres);
          json.field("gpus", node.gpus);
          json.field("gpus_used", node.gpus_used);
          json.array("partitions", [&] {
            for (const std::string& partition : node.partitions) {
              json.value(partition);
            }
          });
        });
      }
    });
    json.array("partitions", [&] {
      for (const PartitionState& partition : cluster.partitions) {
        json.object([&] {
          json.field("name", partition.name);
          json.field("state", partition.state);
          json.field("nodes", partition.nodes);
          json.field("most_time", partition.most_time);
          json.field("default", partition.is_default);
        });
      }
    });
  });
  return json.take();
}

std::string cluster_table(const ClusterState& cluster, const Terminal& terminal) {
  Table nodes;
  nodes.column("NODE");
  nodes.column("STATE");
  nodes.column("GPUS", Align::Right);
  nodes.yielding_column("GRES");
  nodes.column("CPUS", Align::Right);
  nodes.column("MEMORY", Align::Right);
  nodes.optional_column("WHY");
  for (const NodeState& node : cluster.nodes) {
    nodes.row({printable(node.name), Cell(node.words(), node.well() ? Colour::Green : Colour::Red),
               fmt::format("{}/{}", node.gpus_used, node.gpus), printable(node.gres),
               fmt::format("{}/{}", node.cpus_used, node.cpus),
               fmt::format("{}/{}", format_bytes(mebibytes(node.memory_used_mib)),
                           format_bytes(mebibytes(node.memory_mib))),
               printable(node.reason)});
  }
  std::string text = nodes.render(terminal.columns, terminal.colour);
  for (const PartitionState& partition : cluster.partitions) {
    text += fmt::format("partition {}{}: {}, nodes {}, jobs of at most {}\n", partition.name,
                        partition.is_default ? " (default)" : "", partition.state, partition.nodes,
                        partition.most_time);
  }
  return fmt::format("cluster {} on {}, Slurm {}\n", cluster.name, cluster.head, cluster.version) +
         text;
}

}  // namespace

int cluster_status_main(Words words) {
  bool json = false;
  Args args("berth cluster status [options]",
            "Shows the nodes of the Slurm cluster that this box is in: their state, their GPUs,\n"
            "cores and memory (used/all), the partitions, and why a node takes no jobs.");
  args.flag("--json", json, "print JSON");
  args.example("berth cluster status");
  const Result<bool> parsed = args.parse(words);
  if (!parsed || !*parsed) {
    return parsed ? 0 : report(kClusterName, parsed.error());
  }
  ProcessCommands commands;
  const Result<ClusterState> cluster = ask_cluster(commands);
  if (!cluster) {
    return report(kClusterName,
                  Error{ErrorCode::Unavailable,
                        fmt::format("the cluster does not answer: {}; berth cluster doctor looks "
                                    "for the cause",
                                    cluster.error().message)});
  }
  fmt::print("{}", json ? cluster_json(*cluster) + "\n"
                        : cluster_table(*cluster, describe_terminal(STDOUT_FILENO)));
  return 0;
}

}  // namespace berth
