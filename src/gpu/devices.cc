#include "gpu/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "gpu/amd/amd_devices.h"
#include "gpu/device_group.h"
#include "gpu/nvml/nvml_devices.h"
#include "gpu/simulated/sim_devices.h"
#include "gpu/trusted.h"
#include "gpu/visibility.h"

namespace berth {
namespace {

/// The devices of the driver that has any. NVIDIA comes first: an AMD device beside NVIDIA ones is
/// most often the processor's own graphics.
Result<std::unique_ptr<DriverDevices>> open_driver() {
  const char* root = std::getenv("BERTH_SYSFS_ROOT");
  const std::string sysfs = root != nullptr && *root != '\0' ? root : "/sys";
  Result<std::unique_ptr<DriverDevices>> nvml = open_nvml("", sysfs);
  if (nvml && !(*nvml)->list().empty()) {
    return nvml;
  }
  std::unique_ptr<DriverDevices> amd = open_amd(sysfs);
  if (!amd->list().empty()) {
    return amd;
  }
  const std::string nvidia = nvml ? "the NVIDIA driver shows no device"
                                  : fmt::format("no NVIDIA driver ({})", nvml.error().message);
  return fail(ErrorCode::NotFound,
              fmt::format("no GPU found: {}, no AMD device in {}/class/drm; to run jobs without "
                          "GPUs: --gpus none; with simulated ones: --gpus sim:4; to trust ids: "
                          "--gpus 0,1",
                          nvidia, sysfs));
}

std::string names_of(const std::vector<DeviceInfo>& devices) {
  std::string names;
  for (const DeviceInfo& device : devices) {
    names += (names.empty() ? "" : ", ") + device.spec.name;
    if (!device.spec.uuid.empty()) {
      names += fmt::format(" ({})", device.spec.uuid);
    }
  }
  return names;
}

/// All of them, or what a visibility mask that berth was started with leaves.
Result<std::unique_ptr<Devices>> open_all(bool masked) {
  Result<std::unique_ptr<DriverDevices>> driver = open_driver();
  if (!driver) {
    return Failure(driver.error());
  }
  const std::vector<DeviceInfo>& list = (*driver)->list();
  const bool amd = list.front().family == DeviceFamily::Amd;
  const char* variable = amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
  if (const char* mask = std::getenv(variable); masked && mask != nullptr) {
    const std::vector<std::size_t> shown = apply_mask(mask, list);
    if (shown.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("{}='{}' hides all devices: unset it, or write --gpus all, or name "
                              "some of {}",
                              variable, mask, names_of(list)));
    }
    (*driver)->keep(shown);
  }
  return std::move(*driver);
}

/// "3", the slice "3:1", "GPU-…" or "MIG-…": what a driver could know a device by.
bool looks_like_id(std::string_view id) {
  const bool number = id.front() != ':' && id.find_first_not_of("0123456789:") == id.npos;
  return number || id.starts_with("GPU-") || id.starts_with("MIG-");
}

Result<std::unique_ptr<Devices>> open_named(const std::vector<std::string_view>& ids,
                                            Unseen unseen) {
  Result<std::unique_ptr<DriverDevices>> driver = open_driver();
  if (!driver) {
    // Ids are taken on trust here; a slip of the pen is not.
    const auto wrong = std::find_if_not(ids.begin(), ids.end(), looks_like_id);
    if (wrong != ids.end()) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}' names no device: write numbers like 0,1, UUIDs like GPU-5f3c, "
                              "auto, or sim:4x24GiB for simulated ones",
                              *wrong));
    }
    if (unseen == Unseen::Refuse) {
      return fail(
          ErrorCode::NotFound,
          fmt::format("no driver here shows a device {0}, and jobs would fail on one that is "
                      "not there; if it is, write trust:{0}",
                      fmt::join(ids, ",")));
    }
    return open_trusted(ids);
  }
  const std::vector<DeviceInfo>& list = (*driver)->list();
  std::vector<std::size_t> chosen;
  for (const std::string_view id : ids) {
    const std::vector<std::size_t> named = find_devices(id, list);
    if (named.empty()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("no device '{}': there are {}", id, names_of(list)));
    }
    chosen.insert(chosen.end(), named.begin(), named.end());
  }
  (*driver)->keep(chosen);
  return std::move(*driver);
}

Result<std::unique_ptr<Devices>> open_listed(const std::vector<std::string_view>& ids,
                                             Unseen unseen) {
  for (const std::string_view id : ids) {
    const bool whole = is_sim_spec(id) || id == "auto" || id == "all" || id == kNoDevices;
    if (whole && ids.size() > 1) {
      return fail(ErrorCode::Usage,
                  fmt::format("'{}' stands alone: it cannot be listed with other devices", id));
    }
  }
  if (is_sim_spec(ids.front())) {
    return open_simulated(ids.front());
  }
  if (ids.front() == kNoDevices) {
    return Result<std::unique_ptr<Devices>>(std::make_unique<DeviceGroup>());
  }
  if (ids.front() == "auto" || ids.front() == "all") {
    return open_all(ids.front() == "auto");
  }
  return open_named(ids, unseen);
}

}  // namespace

Result<std::unique_ptr<Devices>> open_devices(std::string_view gpus, Unseen unseen) {
  if (gpus.starts_with(kTrust)) {
    gpus.remove_prefix(kTrust.size());
    unseen = Unseen::Trust;
  }
  std::vector<std::string_view> ids = split_ids(gpus);
  if (ids.empty()) {
    return fail(ErrorCode::Usage,
                "the list of devices is empty: write --gpus auto, --gpus 0,1 or --gpus sim:4");
  }
  const std::vector<std::string_view> cpu_slots(std::erase(ids, kCpuSlot), kCpuSlot);
  if (cpu_slots.empty()) {
    return open_listed(ids, unseen);
  }
  auto group = std::make_unique<DeviceGroup>();
  if (!ids.empty()) {
    Result<std::unique_ptr<Devices>> devices = open_listed(ids, unseen);
    if (!devices) {
      return devices;
    }
    group->add(std::move(*devices));
  }
  group->add(open_trusted(cpu_slots));
  return group;
}

}  // namespace berth
