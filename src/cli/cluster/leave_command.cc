// `berth cluster leave`: takes this box out of its cluster.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/text.h"
#include "cli/cluster/cluster_options.h"
#include "cli/toolkit/args.h"
#include "cluster/ask_cluster.h"
#include "cluster/box_daemons.h"
#include "cluster/look_at_box.h"
#include "cluster/node_setup.h"

namespace berth {
namespace {

struct LeaveCommand {
  bool yes = false;
  bool now = false;
};

Args leave_args(LeaveCommand& command) {
  Args args("berth cluster leave [options]",
            "Takes this box out of its cluster: drains it, waits for the jobs that run here,\n"
            "stops slurmd, lets the cluster forget the box, and takes back what join has written.\n"
            "The munge key is replaced by a new one, so that the box no longer has the cluster's.\n"
            "On the head, when no other box is left, it stops slurmctld and slurmd; the files in\n"
            "/etc/slurm stay.");
  args.flag("--now", command.now, "cancel the jobs that run here instead of waiting for them");
  args.flag("-y,--yes", command.yes, "do not ask");
  args.example("sudo berth cluster leave");
  return args;
}

Result<std::vector<std::string>> jobs_on(Commands& commands, const std::string& node) {
  const Result<std::string> text = run_or_fail(
      commands, {"squeue", "--noheader", "--states=R,CG,S", "--nodelist=" + node, "--format=%A"});
  if (!text) {
    return Failure(text.error());
  }
  std::vector<std::string> jobs;
  std::string_view left = *text;
  while (!left.empty()) {
    jobs.emplace_back(trim(take_until(left, '\n')));
  }
  return jobs;
}

/// Nothing new starts here; what runs ends, or is ended.
Result<void> empty_node(Commands& commands, const std::string& node, bool now) {
  if (const Result<std::string> drained = run_or_fail(
          commands,
          {"scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=leaves the cluster"});
      !drained) {
    return Failure(drained.error());
  }
  print_step(fmt::format("{} is drained", node));
  for (std::size_t told = 0;;) {
    const Result<std::vector<std::string>> jobs = jobs_on(commands, node);
    if (!jobs) {
      return Failure(jobs.error());
    }
    if (jobs->empty()) {
      return {};
    }
    if (now) {
      std::vector<std::string> words = {"scancel"};
      words.insert(words.end(), jobs->begin(), jobs->end());
      (void)commands.run(words);
    } else if (jobs->size() != told) {
      print_step(fmt::format("waits for {} {} ({}); --now would cancel", jobs->size(),
                             jobs->size() == 1 ? "job" : "jobs", fmt::join(*jobs, ", ")));
      told = jobs->size();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

/// The head goes last.
Result<void> check_alone(const ClusterState& cluster, const std::string& node) {
  std::vector<std::string> others;
  for (const NodeState& other : cluster.nodes) {
    if (other.name != node && !other.is("DOWN")) {
      others.push_back(other.name);
    }
  }
  if (!others.empty()) {
    return fail(ErrorCode::Refused,
                fmt::format("this is the head, and {} {} still in its cluster: first type berth "
                            "cluster leave there",
                            fmt::join(others, ", "), others.size() == 1 ? "is" : "are"));
  }
  return {};
}

Result<int> leave_as_head(Commands& commands, const Places& places, bool systemd) {
  BoxDaemons daemons(commands, places, systemd);
  for (const Result<void>& stopped : {daemons.stop_slurmd(), daemons.stop_slurmctld()}) {
    if (!stopped) {
      return Failure(stopped.error());
    }
  }
  print_step("slurmd and slurmctld are stopped");
  fmt::print("The cluster is closed. Its files are still in /etc/slurm and /var/lib/slurm.\n");
  return 0;
}

Result<int> leave(const LeaveCommand& command) {
  ProcessCommands commands;
  const Places places;
  if (const Result<void> root = need_root("leave"); !root) {
    return Failure(root.error());
  }
  const Result<ClusterState> cluster = ask_cluster(commands);
  if (!cluster) {
    return fail(ErrorCode::Unavailable,
                fmt::format("the cluster does not answer, so this box cannot be drained: {}; berth "
                            "cluster doctor looks for the cause",
                            cluster.error().message));
  }
  const std::string node = short_host_name();
  if (cluster->find(node) == nullptr) {
    return fail(ErrorCode::NotFound,
                fmt::format("{} is not a node of the cluster {}", node, cluster->name));
  }
  const bool head = ::access(places.slurm_conf().c_str(), F_OK) == 0;
  if (const Result<void> alone = head ? check_alone(*cluster, node) : Result<void>(); !alone) {
    return Failure(alone.error());
  }
  const Result<bool> agreed =
      agree({fmt::format("drain {}, so that no job starts here", node),
             command.now ? "cancel the jobs that run here" : "wait for the jobs that run here",
             head ? "stop slurmd and slurmctld: this is the head"
                  : "stop slurmd, let the cluster forget this box, and make a new munge key"},
            command.yes);
  if (!agreed || !*agreed) {
    return agreed ? Result<int>(1) : Failure(agreed.error());
  }
  if (const Result<void> emptied = empty_node(commands, node, command.now); !emptied) {
    return Failure(emptied.error());
  }
  const bool systemd = has_systemd(places);
  if (head) {
    return leave_as_head(commands, places, systemd);
  }
  if (const Result<void> done = take_down_node(commands, places, node, systemd, print_step);
      !done) {
    return Failure(done.error());
  }
  fmt::print("{} has left the cluster {}. Its lines in the head's gres.conf do no harm.\n", node,
             cluster->name);
  return 0;
}

}  // namespace

int cluster_leave_main(Words words) {
  LeaveCommand command;
  return run_verb(leave_args(command), words, [&] { return leave(command); });
}

}  // namespace berth
