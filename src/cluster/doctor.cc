#include "cluster/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace berth {
namespace {

using Findings = std::vector<Finding>;
using Check = void (*)(const DoctorFacts&, Findings&);

constexpr double kMostClockGap = 2;  // seconds
constexpr long kFirstPerson = 1000;  // the first number of a person's account on Debian
constexpr long kLastPerson = 59999;

void check_packages(const DoctorFacts& facts, Findings& found) {
  if (!facts.installed) {
    found.push_back({"not-installed", true, facts.box, "Slurm is not installed here",
                     "berth cluster init makes a cluster, berth cluster join HOST joins one"});
  }
}

void check_munge_key(const DoctorFacts& facts, Findings& found) {
  const std::string fault = facts.key.fault();
  if (facts.installed && !fault.empty() && (!facts.key.owner.empty() || !facts.key.there)) {
    found.push_back({facts.key.there ? "munge-key-mode" : "munge-key-missing", true, facts.box,
                     fmt::format("/etc/munge/munge.key is not as munged wants it: {}", fault),
                     facts.key.there ? "chown munge: /etc/munge/munge.key; chmod 400 "
                                       "/etc/munge/munge.key; then restart munge"
                                     : "copy it from another box of the cluster, or leave and join "
                                       "again"});
  }
}

void check_munged(const DoctorFacts& facts, Findings& found) {
  if (facts.installed && !facts.munge_works) {
    found.push_back({"munged-down", true, facts.box,
                     "munged does not answer, so nothing here can talk to the cluster",
                     "systemctl restart munge (without systemd: runuser -u munge -- munged); "
                     "/var/log/munge/munged.log says why it ended"});
  }
}

void check_conf(const DoctorFacts& facts, Findings& found) {
  if (!facts.conf_error.empty()) {
    found.push_back(
        {"slurm-conf-error", true, facts.box,
         fmt::format("Slurm cannot read {}: {}", facts.conf_path, facts.conf_error),
         fmt::format("mend the line in {}, then scontrol reconfigure", facts.conf_path)});
  }
  if (!facts.stray_conf.empty()) {
    found.push_back({"slurm-conf-differs", true, facts.box,
                     fmt::format("{} is not what the head has sent, and commands here read it",
                                 facts.stray_conf),
                     fmt::format("mv {0} {0}.old: this box gets its configuration from the head",
                                 facts.stray_conf)});
  }
}

void check_cgroups(const DoctorFacts& facts, Findings& found) {
  if (facts.cgroups == Cgroups::None) {
    found.push_back({"no-cgroups", true, facts.box,
                     "there are no cgroups below /sys/fs/cgroup; slurmd does not start without",
                     "mount -t cgroup2 none /sys/fs/cgroup, and start slurmd again"});
  } else if (facts.cgroups == Cgroups::V1 && facts.process_tracking == "proctrack/cgroup") {
    found.push_back({"no-cgroups", true, facts.box,
                     "slurm.conf confines jobs by cgroups v2, and this box has version 1",
                     "boot with systemd.unified_cgroup_hierarchy=1, or set "
                     "ProctrackType=proctrack/linuxproc in slurm.conf"});
  }
}

void check_gpus(const DoctorFacts& facts, Findings& found) {
  if (!facts.missing_gpu_files.empty()) {
    found.push_back({"gpu-files", true, facts.box,
                     fmt::format("gres.conf gives this box GPUs that are not there: {}",
                                 fmt::join(facts.missing_gpu_files, ", ")),
                     "load the driver (nvidia-smi shows the GPUs), or take the lines out of the "
                     "head's /etc/slurm/gres.conf; then restart slurmd"});
  } else if (facts.driver_gpus && facts.node && *facts.driver_gpus != facts.gres_gpus) {
    found.push_back({"gpu-count", true, facts.box,
                     fmt::format("the driver shows {} GPUs here, and gres.conf has {}",
                                 *facts.driver_gpus, facts.gres_gpus),
                     "add or remove this box's lines in the head's /etc/slurm/gres.conf, and its "
                     "Gres= in slurm.conf or /etc/default/slurmd"});
  }
}

std::string log_words(std::string_view log, const std::string& error) {
  return error.empty() ? fmt::format("{} may say why it ended", log)
                       : fmt::format("{} ends with: {}", log, error);
}

void check_daemons(const DoctorFacts& facts, Findings& found) {
  if (facts.installed && facts.head && !facts.slurmctld_runs) {
    found.push_back(
        {"slurmctld-down", true, facts.box,
         "slurmctld does not run; this box is the head, so the cluster takes no jobs",
         fmt::format("systemctl start slurmctld (without systemd: slurmctld); {}",
                     log_words("/var/log/slurm/slurmctld.log", facts.slurmctld_error))});
  }
  if (facts.installed && facts.node && !facts.slurmd_runs) {
    found.push_back({"slurmd-down", true, facts.box,
                     "slurmd does not run, so this box takes no jobs",
                     fmt::format("systemctl start slurmd (without systemd: slurmd with the options "
                                 "in /etc/default/slurmd); {}",
                                 log_words("/var/log/slurm/slurmd.log", facts.slurmd_error))});
  }
}

void check_names(const DoctorFacts& facts, Findings& found) {
  for (const std::string& name : facts.unresolved_names) {
    found.push_back({"name-unresolved", true, facts.box,
                     fmt::format("the name {} does not resolve here", name),
                     fmt::format("add a line to /etc/hosts: ADDRESS {}", name)});
  }
}

void check_ports(const DoctorFacts& facts, Findings& found) {
  for (const TriedPort& tried : facts.ports) {
    if (tried.error.empty() || (tried.whose == facts.box && tried.refused)) {
      continue;  // of its own daemons a box knows better
    }
    if (tried.refused) {
      found.push_back({tried.daemon + "-down", true, tried.whose,
                       fmt::format("nothing listens at {} port {}: {} does not run on {}",
                                   tried.address, tried.port, tried.daemon, tried.whose),
                       fmt::format("on {}: sudo berth cluster doctor", tried.whose)});
    } else {
      found.push_back(
          {"port-closed", true, tried.whose,
           fmt::format("{} cannot be reached from {}: {}", tried.whose, facts.box, tried.error),
           fmt::format("let TCP to port {} through the firewall of {}, and from {}; is "
                       "the network up?",
                       tried.port, tried.whose, facts.box)});
    }
  }
}

/// The node at an address; the address where none is known.
std::string node_at(const DoctorFacts& facts, const std::string& address) {
  for (const NodeState& node : facts.cluster.nodes) {
    if (node.address == address) {
      return node.name;
    }
  }
  if (!address.empty()) {
    return address;
  }
  return facts.head ? "another box" : "the head";  // slurmd's log does not say, and hears the head
}

void check_refusals(const DoctorFacts& facts, Findings& found) {
  for (const RefusedCredential& refusal : facts.refusals) {
    const std::string peer = node_at(facts, refusal.peer);
    if (refusal.clocks) {
      found.push_back(
          {"clocks-apart", true, peer,
           fmt::format("the clock of {} is {:.0f} s {} that of {}, and munge allows 300", peer,
                       std::abs(refusal.ahead), refusal.ahead >= 0 ? "ahead of" : "behind",
                       facts.box),
           "timedatectl set-ntp true on both"});
    } else {
      found.push_back(
          {"munge-key-differs", true, peer,
           fmt::format("{} and {} have different munge keys", peer, facts.box),
           fmt::format("copy /etc/munge/munge.key from the head to {}, owner munge, mode "
                       "400, and restart munge there; or leave and join again",
                       peer)});
    }
  }
}

/// What slurmctld says for itself; only when no cause was found does it stand alone.
void check_silence(const DoctorFacts& facts, Findings& found) {
  if (!facts.installed || facts.silence.empty() || !found.empty()) {
    return;
  }
  if (facts.refused_by_head) {
    found.push_back({"refused-by-head", true, facts.box,
                     "the head is there and does not accept this box's credentials: the munge keys "
                     "differ, or the clocks are more than five minutes apart",
                     "berth cluster doctor on the head says which"});
  } else {
    found.push_back({"no-answer", true, facts.box,
                     fmt::format("the cluster does not answer: {}", facts.silence),
                     "berth cluster doctor on the head"});
  }
}

void check_nodes(const DoctorFacts& facts, Findings& found) {
  for (const NodeState& node : facts.cluster.nodes) {
    if (node.well()) {
      continue;
    }
    const std::string why = node.reason.empty() ? "" : fmt::format(" ({})", node.reason);
    if (node.is("DRAIN")) {
      found.push_back(
          {"node-drained", true, node.name,
           fmt::format("{} is {}, so no job starts there{}", node.name, node.words(), why),
           fmt::format("when the reason is gone: scontrol update NodeName={} "
                       "State=RESUME",
                       node.name)});
    } else {
      found.push_back({"node-down", true, node.name,
                       fmt::format("{} is {}{}", node.name, node.words(), why),
                       fmt::format("on {}: sudo berth cluster doctor", node.name)});
    }
  }
}

void check_versions(const DoctorFacts& facts, Findings& found) {
  for (const NodeState& node : facts.cluster.nodes) {
    if (!node.version.empty() && !facts.cluster.version.empty() &&
        node.version != facts.cluster.version) {
      found.push_back({"versions-apart", false, node.name,
                       fmt::format("{} has Slurm {}, and the head has {}", node.name, node.version,
                                   facts.cluster.version),
                       "install the same version on all boxes, on the head first"});
    }
  }
}

void check_clocks(const DoctorFacts& facts, Findings& found) {
  for (const NodeProbe& probe : facts.probes) {
    if (probe.clock_ahead && std::abs(*probe.clock_ahead) - probe.clock_doubt > kMostClockGap) {
      found.push_back({"clocks-apart", true, probe.node,
                       fmt::format("the clock of {} is {:.1f} s {} that of {}", probe.node,
                                   std::abs(*probe.clock_ahead),
                                   *probe.clock_ahead > 0 ? "ahead of" : "behind", facts.box),
                       "timedatectl set-ntp true on both"});
    }
  }
}

bool is_person(const std::string& name, long number) {
  return (number >= kFirstPerson && number <= kLastPerson) || name == "slurm";
}

void check_users(const DoctorFacts& facts, Findings& found) {
  for (const NodeProbe& probe : facts.probes) {
    for (const auto& [name, number] : probe.users ? facts.users : std::map<std::string, long>{}) {
      if (!is_person(name, number)) {
        continue;
      }
      const auto there = probe.users->find(name);
      if (there == probe.users->end()) {
        found.push_back(
            {"user-missing", false, probe.node,
             fmt::format("{} has no user {}, so jobs of {} fail there", probe.node, name, name),
             fmt::format("on {}: useradd --uid {} {}", probe.node, number, name)});
      } else if (there->second != number) {
        found.push_back({"uids-differ", true, probe.node,
                         fmt::format("the user {} has number {} on {} and {} on {}: jobs run as "
                                     "somebody else",
                                     name, number, facts.box, there->second, probe.node),
                         fmt::format("on {}: usermod --uid {} {}, and give the files to the new "
                                     "number",
                                     probe.node, number, name)});
      }
    }
  }
}

void check_shared_folder(const DoctorFacts& facts, Findings& found) {
  for (const NodeProbe& probe : facts.probes) {
    if (probe.shares_folder == false) {
      found.push_back(
          {"no-shared-folder", false, probe.node,
           fmt::format("{} on {} is not that of {}: jobs there do not find their files, "
                       "and leave their output there",
                       facts.shared_folder, probe.node, facts.box),
           fmt::format("export {} by NFS from one box and mount it on the others, or "
                       "name another folder: --shared DIR",
                       facts.shared_folder)});
    }
  }
}

// Causes first: a later check may leave unsaid what follows from an earlier one.
constexpr Check kChecks[] = {check_packages, check_munge_key, check_munged,  check_conf,
                             check_cgroups,  check_gpus,      check_daemons, check_names,
                             check_ports,    check_refusals,  check_silence, check_nodes,
                             check_versions, check_clocks,    check_users,   check_shared_folder};

}  // namespace

std::vector<Finding> diagnose(const DoctorFacts& facts) {
  Findings found;
  for (const Check check : kChecks) {
    check(facts, found);
  }
  return found;
}

std::size_t count_checks() { return std::size(kChecks); }

}  // namespace berth
