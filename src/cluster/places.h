// Places: the files of a Slurm box as Debian's packages have them, below a root that tests can
// move.
#pragma once

#include <string>

namespace berth {

struct Places {
  std::string root;  // empty: the machine's own

  std::string at(const std::string& path) const { return root + path; }
  std::string slurm_conf() const { return at("/etc/slurm/slurm.conf"); }
  std::string gres_conf() const { return at("/etc/slurm/gres.conf"); }
  std::string cgroup_conf() const { return at("/etc/slurm/cgroup.conf"); }
  /// What a slurmd without a slurm.conf of its own got from the head.
  std::string cached_conf() const { return at("/run/slurm/conf/slurm.conf"); }
  std::string slurmd_options() const { return at("/etc/default/slurmd"); }
  std::string slurmd_drop_in() const {
    return at("/etc/systemd/system/slurmd.service.d/configless.conf");
  }
  std::string munge_key() const { return at("/etc/munge/munge.key"); }
  std::string slurmctld_log() const { return at("/var/log/slurm/slurmctld.log"); }
  std::string slurmd_log() const { return at("/var/log/slurm/slurmd.log"); }
  std::string munged_log() const { return at("/var/log/munge/munged.log"); }
  std::string state() const { return at("/var/lib/slurm/slurmctld"); }
  std::string simulated_gpus() const { return at("/var/lib/slurm/simulated-gpus"); }
  std::string invitation() const { return at("/run/berth-invitation"); }
};

}  // namespace berth
