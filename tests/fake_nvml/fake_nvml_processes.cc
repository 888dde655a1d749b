// A driver library made of simulated devices: who runs on them, in every form that drivers had.
#include <cstdio>
#include <cstring>

#include "fake_nvml.h"

using namespace berth;        // NOLINT: this file is one long list of C functions
using namespace berth::nvml;  // NOLINT

namespace {

enum class Form { V1, V2, V3 };

/// Bytes from entry to entry; 0 where this driver lacks the function.
std::size_t stride_of(Form form, std::string_view version) {
  if (form == Form::V1) {
    return sizeof(ProcessV1);
  }
  int major = 0;
  int minor = 0;
  std::sscanf(std::string(version).c_str(), "%d.%d", &major, &minor);
  if (form == Form::V3 && major == 535 && minor >= 43) {
    return minor < 98 ? sizeof(ProcessOdd) : 0;
  }
  return sizeof(ProcessV2);
}

int list_processes(Device device, bool mps, Form form, unsigned* count, void* out) {
  std::size_t stride = 0;
  (void)with_driver([&](const SimHeader& header, std::span<SimRecord>) -> int {
    stride = stride_of(form, sim_text(header.driver));
    return kSuccess;
  });
  if (stride == 0) {
    return kFunctionNotFound;
  }
  return with_device(device, kSimProcesses, [&](const SimRecord& record) -> int {
    const unsigned room = *count;
    *count = 0;
    for (const SimProcess& process : record.processes) {
      if (process.pid == 0 || (process.via_mps != 0) != mps ||
          (device->slice >= 0 && process.slice != device->slice)) {
        continue;
      }
      if (*count < room) {
        const bool sliced = process.slice >= 0;
        ProcessOdd entry{};
        entry.known.pid = static_cast<std::uint32_t>(process.pid);
        entry.known.used = static_cast<std::uint64_t>(process.memory);
        entry.known.gpu_instance = sliced ? static_cast<std::uint32_t>(process.slice) : kNoInstance;
        entry.known.compute_instance = sliced ? 0 : kNoInstance;
        std::memcpy(static_cast<char*>(out) + *count * stride, &entry, stride);
      }
      ++*count;
    }
    return *count > room ? kInsufficientSize : kSuccess;
  });
}

}  // namespace

extern "C" {

int nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, void* out) {
  return list_processes(device, false, Form::V1, count, out);
}
int nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, void* out) {
  return list_processes(device, false, Form::V2, count, out);
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void* out) {
  return list_processes(device, false, Form::V3, count, out);
}
int nvmlDeviceGetMPSComputeRunningProcesses(Device device, unsigned* count, void* out) {
  return list_processes(device, true, Form::V1, count, out);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v2(Device device, unsigned* count, void* out) {
  return list_processes(device, true, Form::V2, count, out);
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, unsigned* count, void* out) {
  return list_processes(device, true, Form::V3, count, out);
}

}  // extern "C"
