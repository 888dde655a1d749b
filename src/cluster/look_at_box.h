// Collects the facts of this machine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/box_facts.h"
#include "cluster/commands.h"
#include "cluster/places.h"
#include "gpu/devices.h"

namespace berth {

/// The host name up to its first dot.
std::string short_host_name();

/// The address by which others reach this machine: that of the interface with the default route,
/// else of the first that is up; "127.0.0.1" when there is none.
std::string own_address();

/// The device files of these GPUs, for gres.conf. A simulated GPU has a link to /dev/null, which
/// make_simulated_gpus() makes. An error for a MIG slice, which is more than one file.
Result<std::vector<GpuFile>> gpu_files(const std::vector<DeviceInfo>& devices,
                                       const Places& places);
Result<void> make_simulated_gpus(const std::vector<GpuFile>& gpus, const Places& places);

Cgroups look_for_cgroups(const Places& places);
bool has_systemd(const Places& places);

/// What Slurm itself says of this machine; the packages must be installed.
Result<void> ask_slurmd(Commands& commands, BoxFacts& facts);

/// Those of the packages that are not installed.
Result<std::vector<std::string>> missing_packages(Commands& commands,
                                                  const std::vector<std::string>& packages);
Result<void> install_packages(Commands& commands, const std::vector<std::string>& packages);

/// The processes of this name.
std::vector<int> processes_of(std::string_view program, const Places& places);

}  // namespace berth
