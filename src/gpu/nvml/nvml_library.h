// NvmlLibrary: libnvidia-ml, loaded and initialised. Every function is optional: calling one that
// the library lacks returns kFunctionNotFound, as the library itself does for functions that it
// lacks internally. Functions may be called from any thread; NVML does its own locking.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "gpu/nvml/nvml_abi.h"

namespace berth {

/// One function of the library, which may be missing.
template <class... Parameters>
class NvmlCall {
 public:
  using Function = int (*)(Parameters...);

  explicit NvmlCall(void* symbol) : function_(reinterpret_cast<Function>(symbol)) {}
  int operator()(Parameters... parameters) const {
    return function_ == nullptr ? nvml::kFunctionNotFound : function_(parameters...);
  }

 private:
  Function function_;
};

class NvmlLibrary {
 public:
  /// An empty `path` means the usual names, as the dynamic linker finds them. The error is
  /// Unavailable when there is no library, or no driver behind it.
  static Result<std::unique_ptr<NvmlLibrary>> open(const std::string& path);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  /// True for drivers whose _v3 process functions must not be called: they write another structure
  /// (535.43 and later) or are missing again (535.98).
  bool has_odd_processes() const { return odd_processes_; }
  std::string error_text(int code) const;

 private:
  struct Handle {
    void* library;
    explicit Handle(void* opened) : library(opened) {}
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    void* find(const char* symbol) const;
  } handle_;

  template <class... Parameters>
  NvmlCall<Parameters...> load(const char* symbol) const {
    return NvmlCall<Parameters...>(handle_.find(symbol));
  }
  explicit NvmlLibrary(void* library) : handle_(library) {}
  Result<void> start();

  using Device = nvml::Device;
  NvmlCall<> init_ = load<>("nvmlInit_v2");
  NvmlCall<> shutdown_ = load<>("nvmlShutdown");
  bool started_ = false;
  bool odd_processes_ = false;

 public:
  template <class... Out>
  using OfDevice = NvmlCall<Device, Out...>;
  using Processes = OfDevice<unsigned*, void*>;

  NvmlCall<char*, unsigned> driver_version = load<char*, unsigned>("nvmlSystemGetDriverVersion");
  NvmlCall<unsigned*> count = load<unsigned*>("nvmlDeviceGetCount_v2");
  NvmlCall<unsigned, Device*> by_index = load<unsigned, Device*>("nvmlDeviceGetHandleByIndex_v2");
  OfDevice<char*, unsigned> name = load<Device, char*, unsigned>("nvmlDeviceGetName");
  OfDevice<char*, unsigned> uuid = load<Device, char*, unsigned>("nvmlDeviceGetUUID");
  OfDevice<nvml::PciInfo*> pci = load<Device, nvml::PciInfo*>("nvmlDeviceGetPciInfo_v3");

  OfDevice<nvml::Memory*> memory = load<Device, nvml::Memory*>("nvmlDeviceGetMemoryInfo");
  OfDevice<nvml::MemoryV2*> memory_v2 = load<Device, nvml::MemoryV2*>("nvmlDeviceGetMemoryInfo_v2");
  OfDevice<nvml::Utilization*> utilization =
      load<Device, nvml::Utilization*>("nvmlDeviceGetUtilizationRates");
  OfDevice<unsigned*> power = load<Device, unsigned*>("nvmlDeviceGetPowerUsage");
  OfDevice<unsigned*> power_limit = load<Device, unsigned*>("nvmlDeviceGetPowerManagementLimit");
  OfDevice<unsigned*, unsigned*> power_limit_range =
      load<Device, unsigned*, unsigned*>("nvmlDeviceGetPowerManagementLimitConstraints");
  OfDevice<unsigned> set_power_limit = load<Device, unsigned>("nvmlDeviceSetPowerManagementLimit");
  OfDevice<unsigned long long*> energy =
      load<Device, unsigned long long*>("nvmlDeviceGetTotalEnergyConsumption");
  OfDevice<unsigned, unsigned*> temperature =
      load<Device, unsigned, unsigned*>("nvmlDeviceGetTemperature");

  Processes compute_v3 = load<Device, unsigned*, void*>("nvmlDeviceGetComputeRunningProcesses_v3");
  Processes compute_v2 = load<Device, unsigned*, void*>("nvmlDeviceGetComputeRunningProcesses_v2");
  Processes compute_v1 = load<Device, unsigned*, void*>("nvmlDeviceGetComputeRunningProcesses");
  Processes mps_v3 = load<Device, unsigned*, void*>("nvmlDeviceGetMPSComputeRunningProcesses_v3");
  Processes mps_v2 = load<Device, unsigned*, void*>("nvmlDeviceGetMPSComputeRunningProcesses_v2");
  Processes mps_v1 = load<Device, unsigned*, void*>("nvmlDeviceGetMPSComputeRunningProcesses");

  OfDevice<unsigned*, unsigned*> mig_mode =
      load<Device, unsigned*, unsigned*>("nvmlDeviceGetMigMode");
  OfDevice<unsigned*> most_mig_devices = load<Device, unsigned*>("nvmlDeviceGetMaxMigDeviceCount");
  OfDevice<unsigned, Device*> mig_device =
      load<Device, unsigned, Device*>("nvmlDeviceGetMigDeviceHandleByIndex");
  OfDevice<nvml::Attributes*> attributes =
      load<Device, nvml::Attributes*>("nvmlDeviceGetAttributes_v2");

  OfDevice<unsigned, unsigned*> nvlink_state =
      load<Device, unsigned, unsigned*>("nvmlDeviceGetNvLinkState");
  OfDevice<unsigned, nvml::PciInfo*> nvlink_remote =
      load<Device, unsigned, nvml::PciInfo*>("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  OfDevice<Device, unsigned*> common_ancestor =
      load<Device, Device, unsigned*>("nvmlDeviceGetTopologyCommonAncestor");

  NvmlCall<nvml::EventSet*> event_set_create = load<nvml::EventSet*>("nvmlEventSetCreate");
  NvmlCall<nvml::EventSet> event_set_free = load<nvml::EventSet>("nvmlEventSetFree");
  OfDevice<unsigned long long, nvml::EventSet> register_events =
      load<Device, unsigned long long, nvml::EventSet>("nvmlDeviceRegisterEvents");
  NvmlCall<nvml::EventSet, nvml::EventData*, unsigned> event_set_wait =
      load<nvml::EventSet, nvml::EventData*, unsigned>("nvmlEventSetWait_v2");
};

}  // namespace berth
