// Who holds which devices of a cluster, from scontrol's words. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

struct DeviceHolder {
  std::string job;   // Slurm's number, with the index of an array
  std::string user;  // its name
  std::string name;  // of the job
};

/// `scontrol --oneliner --details show job`: by node and number of the GPU. Of several jobs that
/// share a GPU, one is told.
std::map<std::pair<std::string, std::uint32_t>, DeviceHolder> read_holders(std::string_view output);

}  // namespace berth
