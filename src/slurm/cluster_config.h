// Which clusters there are: those in the file `clusters` of the configuration folder, or, without
// one, the cluster whose sbatch is on PATH.
//
//   [lab]
//   folder = /shared/berth     # that the nodes see; default: in berth's own state folder
//   bin = /opt/slurm/bin       # where Slurm's commands are; default: by PATH
//   conf = /etc/lab/slurm.conf # SLURM_CONF
//   partition = gpu            # of jobs that name none; likewise account, qos
//   option = --constraint=nvme # for every job; may be given again
//   patience = 30s             # for an answer of Slurm's
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/slurm_settings.h"

namespace berth {

/// The name of the cluster where there is no file.
inline constexpr std::string_view kUsualCluster = "slurm";

/// The clusters that a text describes. An error names the line.
Result<std::vector<SlurmSettings>> parse_clusters(std::string_view text);
/// Of this file; none where there is no file.
Result<std::vector<SlurmSettings>> read_clusters(const std::string& path);
/// `slurm` is the first cluster of the file, or that of PATH. An error says what there is.
Result<SlurmSettings> find_cluster(const std::string& path, const std::string& name);

}  // namespace berth
