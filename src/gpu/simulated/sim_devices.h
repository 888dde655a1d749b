// Simulated devices. To all code above they are real devices, but their memory, utilisation, power
// and processes live in a state file that jobs share (see sim_state.h). `berth simjob` uses them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "gpu/devices.h"
#include "gpu/simulated/sim_state.h"

namespace berth {

/// One device as jobs see it: a whole record of the state file, or a MIG slice of one.
struct SimPart {
  DeviceInfo info;
  std::size_t record = 0;
  int slice = -1;
};

bool is_sim_spec(std::string_view gpus);

/// Opens the state behind `sim:4` or `sim:4x24GiB` and makes it if it is missing. The file is the
/// one that BERTH_SIM_STATE names, else one under berth's state folder for devices of that shape.
/// If `gpus` is empty, the file is the one that BERTH_SIM_STATE names, which berth sets for jobs,
/// and it must exist.
Result<std::unique_ptr<SimState>> open_sim_state(std::string_view gpus);

std::vector<SimPart> list_sim_parts(SimState& state);

Result<std::unique_ptr<Devices>> open_simulated(std::string_view gpus);

}  // namespace berth
