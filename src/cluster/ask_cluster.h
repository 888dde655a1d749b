// Asks the cluster by Slurm's own commands.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/cluster_state.h"
#include "cluster/commands.h"
#include "cluster/places.h"

namespace berth {

/// The nodes and partitions as slurmctld has them now.
Result<ClusterState> ask_cluster(Commands& commands);

/// Waits until the node takes jobs; an error with the reason when it does not within `patience`.
Result<void> wait_for_node(Commands& commands, const std::string& node, Duration patience);

/// The last lines of a log that tell of errors, each without its time; at most `most` of them.
std::vector<std::string> last_errors(std::string_view log, std::size_t most);

/// `error` with the last error that the daemon wrote to its log.
Error with_log(Error error, const std::string& log);

/// The end of a log, which may be long; empty when it cannot be read.
std::string end_of_log(const std::string& path);

}  // namespace berth
