// NvmlFunctions: the functions of libnvidia-ml that berth calls. Every one is optional: calling one
// that the library lacks answers kFunctionNotFound, as the library itself does for what it lacks
// inside. They may be called from any thread; NVML locks for itself.
#pragma once

#include "gpu/nvml/nvml_abi.h"

namespace berth {

/// The library as dlopen() gave it; closes it.
class NvmlHandle {
 public:
  explicit NvmlHandle(void* library) : library_(library) {}
  ~NvmlHandle();
  NvmlHandle(const NvmlHandle&) = delete;
  NvmlHandle& operator=(const NvmlHandle&) = delete;

  /// Null where the library lacks it.
  void* find(const char* symbol) const;

 private:
  void* library_;
};

/// One function of the library, or the lack of it.
template <class... Parameters>
class NvmlCall {
 public:
  using Function = int (*)(Parameters...);

  NvmlCall(const NvmlHandle& library, const char* symbol)
      : function_(reinterpret_cast<Function>(library.find(symbol))) {}
  int operator()(Parameters... parameters) const {
    return function_ == nullptr ? nvml::kFunctionNotFound : function_(parameters...);
  }

 private:
  Function function_;
};

struct NvmlFunctions {
  const NvmlHandle& library;  // that all of them are from

  using Device = nvml::Device;
  template <class... Out>
  using OfDevice = NvmlCall<Device, Out...>;
  using Processes = OfDevice<unsigned*, void*>;

  NvmlCall<> init{library, "nvmlInit_v2"};
  NvmlCall<> shutdown{library, "nvmlShutdown"};

  NvmlCall<char*, unsigned> driver_version{library, "nvmlSystemGetDriverVersion"};
  NvmlCall<unsigned*> count{library, "nvmlDeviceGetCount_v2"};
  NvmlCall<unsigned, Device*> by_index{library, "nvmlDeviceGetHandleByIndex_v2"};
  OfDevice<char*, unsigned> name{library, "nvmlDeviceGetName"};
  OfDevice<char*, unsigned> uuid{library, "nvmlDeviceGetUUID"};
  OfDevice<nvml::PciInfo*> pci{library, "nvmlDeviceGetPciInfo_v3"};

  OfDevice<nvml::Memory*> memory{library, "nvmlDeviceGetMemoryInfo"};
  OfDevice<nvml::MemoryV2*> memory_v2{library, "nvmlDeviceGetMemoryInfo_v2"};
  OfDevice<nvml::Utilization*> utilization{library, "nvmlDeviceGetUtilizationRates"};
  OfDevice<unsigned*> power{library, "nvmlDeviceGetPowerUsage"};
  OfDevice<unsigned*> power_limit{library, "nvmlDeviceGetPowerManagementLimit"};
  OfDevice<unsigned*, unsigned*> power_limit_range{library,
                                                   "nvmlDeviceGetPowerManagementLimitConstraints"};
  OfDevice<unsigned> set_power_limit{library, "nvmlDeviceSetPowerManagementLimit"};
  OfDevice<unsigned long long*> energy{library, "nvmlDeviceGetTotalEnergyConsumption"};
  OfDevice<unsigned, unsigned*> temperature{library, "nvmlDeviceGetTemperature"};

  Processes compute_v3{library, "nvmlDeviceGetComputeRunningProcesses_v3"};
  Processes compute_v2{library, "nvmlDeviceGetComputeRunningProcesses_v2"};
  Processes compute_v1{library, "nvmlDeviceGetComputeRunningProcesses"};
  Processes mps_v3{library, "nvmlDeviceGetMPSComputeRunningProcesses_v3"};
  Processes mps_v2{library, "nvmlDeviceGetMPSComputeRunningProcesses_v2"};
  Processes mps_v1{library, "nvmlDeviceGetMPSComputeRunningProcesses"};

  OfDevice<unsigned*, unsigned*> mig_mode{library, "nvmlDeviceGetMigMode"};
  OfDevice<unsigned*> most_mig_devices{library, "nvmlDeviceGetMaxMigDeviceCount"};
  OfDevice<unsigned, Device*> mig_device{library, "nvmlDeviceGetMigDeviceHandleByIndex"};
  OfDevice<nvml::Attributes*> attributes{library, "nvmlDeviceGetAttributes_v2"};

  OfDevice<unsigned, unsigned*> nvlink_state{library, "nvmlDeviceGetNvLinkState"};
  OfDevice<unsigned, nvml::PciInfo*> nvlink_remote{library, "nvmlDeviceGetNvLinkRemotePciInfo_v2"};
  OfDevice<Device, unsigned*> common_ancestor{library, "nvmlDeviceGetTopologyCommonAncestor"};

  NvmlCall<nvml::EventSet*> event_set_create{library, "nvmlEventSetCreate"};
  NvmlCall<nvml::EventSet> event_set_free{library, "nvmlEventSetFree"};
  OfDevice<unsigned long long, nvml::EventSet> register_events{library, "nvmlDeviceRegisterEvents"};
  NvmlCall<nvml::EventSet, nvml::EventData*, unsigned> event_set_wait{library,
                                                                      "nvmlEventSetWait_v2"};
};

}  // namespace berth
