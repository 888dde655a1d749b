// Makes this machine the head of a new cluster: its files, its key, its daemons. The packages are
// installed already, and the user has agreed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/box_facts.h"
#include "cluster/commands.h"
#include "cluster/places.h"

namespace berth {

/// Told of each step that was done, in a sentence.
using Tell = std::function<void(std::string_view)>;

inline const std::vector<std::string> kHeadPackages = {"slurmctld", "slurmd", "slurm-client",
                                                       "munge"};
inline const std::vector<std::string> kNodePackages = {"slurmd", "slurm-client", "munge"};

/// The files that would be written over, because they have another text.
std::vector<std::string> files_in_the_way(const Places& places, std::string_view cluster,
                                          const BoxFacts& head);

/// Writes the files, starts the daemons, and waits until this box takes jobs.
Result<void> set_up_head(Commands& commands, const Places& places, std::string_view cluster,
                         const BoxFacts& head, const Tell& tell);

/// "wrote PATH", and where the former text is.
void tell_written(const Tell& tell, const std::string& path, const std::string& backup);

}  // namespace berth
