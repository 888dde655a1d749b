#include "gpu/nvml/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>

namespace berth {
namespace {

bool is_odd_driver(const char* version) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(version, "%d.%d", &major, &minor) != 2) {
    return false;
  }
  return major == 535 && minor >= 43 && minor <= 98;
}

std::string_view meaning(int code) {
  switch (code) {
    case nvml::kNotSupported:
      return "not supported";
    case nvml::kNoPermission:
      return "not permitted; it needs root";
    case nvml::kDriverNotLoaded:
      return "the driver is not loaded";
    case nvml::kFunctionNotFound:
      return "this driver cannot";
    case nvml::kGpuLost:
      return "the GPU has fallen off the bus";
    default:
      return "the driver refused";
  }
}

}  // namespace

Result<std::unique_ptr<NvmlLibrary>> NvmlLibrary::open(const std::string& path) {
  void* library = nullptr;
  std::string reason;
  for (const char* name : {"libnvidia-ml.so.1", "libnvidia-ml.so"}) {
    library = ::dlopen(path.empty() ? name : path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      break;
    }
    if (const char* words = ::dlerror(); reason.empty() && words != nullptr) {
      reason = words;
    }
  }
  if (library == nullptr) {
    return fail(ErrorCode::Unavailable, std::move(reason));
  }
  std::unique_ptr<NvmlLibrary> nvml(new NvmlLibrary(library));
  if (const Result<void> started = nvml->start(); !started) {
    return Failure(started.error());
  }
  return nvml;
}

Result<void> NvmlLibrary::start() {
  if (const int code = functions_.init(); code != nvml::kSuccess) {
    return fail(ErrorCode::Unavailable, fmt::format("libnvidia-ml: {}", error_text(code)));
  }
  started_ = true;
  std::array<char, nvml::kTextSize> version{};
  if (functions_.driver_version(version.data(), version.size() - 1) == nvml::kSuccess) {
    odd_processes_ = is_odd_driver(version.data());
  }
  return {};
}

NvmlLibrary::~NvmlLibrary() {
  if (started_) {
    (void)functions_.shutdown();
  }
}

std::string NvmlLibrary::error_text(int code) const {
  return fmt::format("{} (NVML error {})", meaning(code), code);
}

}  // namespace berth
