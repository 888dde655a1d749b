// BoxFacts: what one machine has that a cluster's configuration must say. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth {

enum class GpuVendor : std::uint8_t { Nvidia, Amd };

/// One GPU as gres.conf names it.
struct GpuFile {
  std::string file;  // "/dev/nvidia0"
  std::string type;  // "a100-sxm4-40gb"; empty when unknown
  GpuVendor vendor = GpuVendor::Nvidia;

  friend bool operator==(const GpuFile&, const GpuFile&) = default;
};

enum class Cgroups : std::uint8_t { None, V1, V2 };

struct BoxFacts {
  std::string name;     // the host name up to its first dot
  std::string address;  // by which other boxes reach it
  int sockets = 1;
  int cores = 1;    // per socket
  int threads = 1;  // per core
  std::int64_t memory_mib = 0;
  std::vector<GpuFile> gpus;
  Cgroups cgroups = Cgroups::None;
  bool systemd = false;
  std::string version;  // of Slurm: "22.05.8"
};

}  // namespace berth
