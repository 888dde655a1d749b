#include "gpu/nvml/nvml_processes.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace berth {
namespace {

// Room for the largest structure any driver ever wrote, whichever one is asked for.
constexpr std::size_t kLargestEntry = sizeof(nvml::ProcessOdd);

/// One call form; `stride` is how far its entries are apart. All begin with pid and memory.
int read_list(const NvmlFunctions::Processes& call, nvml::Device device, std::size_t stride,
              std::map<pid_t, Bytes>& found) {
  static_assert(offsetof(nvml::ProcessV1, used) == offsetof(nvml::ProcessV2, used));
  unsigned capacity = 64;
  constexpr int kTries = 4;  // processes may be born between the calls
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<char> buffer(capacity * kLargestEntry);
    unsigned count = capacity;
    const int code = call(device, &count, buffer.data());
    if (code == nvml::kInsufficientSize) {
      capacity = std::max(capacity, count) * 2;
      continue;
    }
    for (unsigned i = 0; code == nvml::kSuccess && i < std::min(count, capacity); ++i) {
      nvml::ProcessV1 entry;
      std::memcpy(&entry, buffer.data() + i * stride, sizeof(entry));
      const bool known = entry.used != nvml::kNoValue;
      Bytes& memory = found[static_cast<pid_t>(entry.pid)];
      memory = std::max(memory, Bytes{known ? static_cast<std::int64_t>(entry.used) : 0});
    }
    return code;
  }
  return nvml::kInsufficientSize;
}

}  // namespace

std::vector<ProcessUse> read_nvml_processes(const NvmlLibrary& nvml, nvml::Device device,
                                            int& code) {
  struct Form {
    const NvmlFunctions::Processes& call;
    std::size_t stride;
    bool newest;
  };
  const auto read_any = [&](std::initializer_list<Form> forms, std::map<pid_t, Bytes>& found) {
    int last = nvml::kFunctionNotFound;
    for (const Form& form : forms) {
      if (form.newest && nvml.has_odd_processes()) {
        continue;
      }
      last = read_list(form.call, device, form.stride, found);
      if (last != nvml::kFunctionNotFound) {
        break;
      }
    }
    return last;
  };
  std::map<pid_t, Bytes> found;
  code = read_any({{nvml.call().compute_v3, sizeof(nvml::ProcessV2), true},
                   {nvml.call().compute_v2, sizeof(nvml::ProcessV2), false},
                   {nvml.call().compute_v1, sizeof(nvml::ProcessV1), false}},
                  found);
  if (code != nvml::kGpuLost) {
    (void)read_any({{nvml.call().mps_v3, sizeof(nvml::ProcessV2), true},
                    {nvml.call().mps_v2, sizeof(nvml::ProcessV2), false},
                    {nvml.call().mps_v1, sizeof(nvml::ProcessV1), false}},
                   found);
  }
  std::vector<ProcessUse> processes;
  processes.reserve(found.size());
  for (const auto& [pid, memory] : found) {
    processes.push_back({pid, memory});
  }
  return processes;
}

}  // namespace berth
