// `berth cluster doctor`: what is wrong with the cluster, and what to do.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "api/json_writer.h"
#include "cli/cluster/cluster_options.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "cluster/look_at_cluster.h"

namespace berth {
namespace {

struct DoctorCommand {
  DoctorOptions options;
  bool no_jobs = false;
  bool json = false;
};

Args doctor_args(DoctorCommand& command) {
  Args args("berth cluster doctor [options]",
            "Looks for what is wrong with the Slurm cluster that this box is in, and says what to\n"
            "do: daemons, munge and its key, slurm.conf, GPUs and gres.conf, cgroups, names,\n"
            "ports, drained nodes, versions; and by jobs of a second on the other nodes: clocks,\n"
            "numbers of users, and a shared folder. It sees most as root on the head. The exit\n"
            "code is 1 when something must be mended.");
  args.value("--shared", "DIR", "the folder that all boxes should share (default: /home)",
             command.options.shared_folder);
  args.flag("--no-jobs", command.no_jobs, "run no jobs: what needs them is not looked at");
  args.flag("--json", command.json, "print JSON");
  args.example("sudo berth cluster doctor");
  args.example("sudo berth cluster doctor --shared /data");
  return args;
}

std::string findings_json(const std::vector<Finding>& findings) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("checks", count_checks());
    json.array("findings", [&] {
      for (const Finding& finding : findings) {
        json.object([&] {
          json.field("fault", finding.fault);
          json.field("serious", finding.serious);
          json.field("where", finding.where);
          json.field("what", finding.what);
          json.field("remedy", finding.remedy);
        });
      }
    });
  });
  return json.take();
}

void print_findings(const std::vector<Finding>& findings, const DoctorFacts& facts,
                    const Terminal& terminal) {
  const std::size_t width = terminal.columns > 8 ? terminal.columns - 4 : 0;
  for (const Finding& finding : findings) {
    fmt::print("{} {}: {}\n    {}\n", finding.serious ? "✗" : "!", printable(finding.where),
               indent_lines(wrap_words(printable(finding.what), width), 4),
               indent_lines(wrap_words(printable(finding.remedy), width), 4));
  }
  for (const NodeProbe& probe : facts.probes) {
    if (!probe.users) {
      fmt::print("{} had no room for a job, so its clock, users and folders were not looked at.\n",
                 probe.node);
    }
  }
  if (findings.empty()) {
    fmt::print("All is well: {} things were looked at, on {} {}.\n", count_checks(),
               facts.cluster.nodes.size(), facts.cluster.nodes.size() == 1 ? "node" : "nodes");
  }
}

}  // namespace

int cluster_doctor_main(Words words) {
  DoctorCommand command;
  const Result<bool> parsed = doctor_args(command).parse(words);
  if (!parsed || !*parsed) {
    return parsed ? 0 : report(kClusterName, parsed.error());
  }
  command.options.jobs = !command.no_jobs;
  ProcessCommands commands;
  const DoctorFacts facts = look_at_cluster(commands, Places{}, command.options);
  const std::vector<Finding> findings = diagnose(facts);
  if (command.json) {
    fmt::print("{}\n", findings_json(findings));
  } else {
    print_findings(findings, facts, describe_terminal(STDOUT_FILENO));
  }
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.serious; })
             ? 1
             : 0;
}

}  // namespace berth
