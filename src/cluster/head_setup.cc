#include "cluster/head_setup.h"

#include <fmt/format.h>

#include "cluster/ask_cluster.h"
#include "cluster/box_daemons.h"
#include "cluster/conf_files.h"
#include "cluster/conf_texts.h"
#include "cluster/look_at_box.h"
#include "cluster/munge_key.h"

namespace berth {
namespace {

struct ConfFile {
  std::string path;
  std::string text;
};

std::vector<ConfFile> head_files(const Places& places, std::string_view cluster,
                                 const BoxFacts& head) {
  return {{places.slurm_conf(), slurm_conf(cluster, head)},
          {places.gres_conf(), with_node_gpus(empty_gres_conf(), head.name, head.gpus)},
          {places.cgroup_conf(), cgroup_conf(head)}};
}

/// Where the daemons write; Debian's packages make these, and a tidy administrator may not have
/// them.
Result<void> make_slurm_folders(Commands& commands) {
  const Result<std::string> made =
      run_or_fail(commands, {"install", "-d", "-o", "slurm", "-g", "slurm", "-m", "755",
                             "/var/lib/slurm", "/var/lib/slurm/slurmctld", "/var/log/slurm"});
  if (!made) {
    return Failure(made.error());
  }
  const Result<std::string> spool =
      run_or_fail(commands, {"install", "-d", "-m", "755", "/var/lib/slurm/slurmd"});
  return spool ? Result<void>() : Failure(spool.error());
}

}  // namespace

void tell_written(const Tell& tell, const std::string& path, const std::string& backup) {
  tell(backup.empty() ? fmt::format("wrote {}", path)
                      : fmt::format("wrote {}; the former is {}", path, backup));
}

std::vector<std::string> files_in_the_way(const Places& places, std::string_view cluster,
                                          const BoxFacts& head) {
  std::vector<std::string> paths;
  for (const ConfFile& file : head_files(places, cluster, head)) {
    if (differs(file.path, file.text)) {
      paths.push_back(file.path);
    }
  }
  return paths;
}

Result<void> set_up_head(Commands& commands, const Places& places, std::string_view cluster,
                         const BoxFacts& head, const Tell& tell) {
  for (const ConfFile& file : head_files(places, cluster, head)) {
    const Result<std::string> backup = write_conf_file(file.path, file.text);
    if (!backup) {
      return Failure(backup.error());
    }
    tell_written(tell, file.path, *backup);
  }
  if (const Result<void> made = make_simulated_gpus(head.gpus, places); !made) {
    return made;
  }
  if (const Result<void> key = ensure_munge_key(places); !key) {
    return key;
  }
  if (const Result<void> made = make_slurm_folders(commands); !made) {
    return made;
  }
  BoxDaemons daemons(commands, places, head.systemd);
  if (const Result<void> started = daemons.restart_munged(); !started) {
    return started;
  }
  tell("munged runs");
  if (const Result<void> started = daemons.restart_slurmctld(); !started) {
    return Failure(with_log(started.error(), places.slurmctld_log()));
  }
  if (const Result<void> started = daemons.restart_slurmd({}); !started) {
    return Failure(with_log(started.error(), places.slurmd_log()));
  }
  if (const Result<void> up = wait_for_node(commands, head.name, std::chrono::minutes(1)); !up) {
    const bool controller = up.error().message.find("scontrol") != std::string::npos;
    return Failure(with_log(up.error(), controller ? places.slurmctld_log() : places.slurmd_log()));
  }
  tell(fmt::format("slurmctld and slurmd run; {} takes jobs", head.name));
  return {};
}

}  // namespace berth
