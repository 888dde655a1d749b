// NvmlLibrary: libnvidia-ml, loaded and initialised.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "gpu/nvml/nvml_functions.h"

namespace berth {

class NvmlLibrary {
 public:
  /// An empty `path` means the usual names, as the dynamic linker finds them. The error is
  /// Unavailable when there is no library, or no driver behind it.
  static Result<std::unique_ptr<NvmlLibrary>> open(const std::string& path);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  const NvmlFunctions& call() const { return functions_; }

  /// True for drivers whose _v3 process functions must not be called: they write another structure
  /// (535.43 and later) or are missing again (535.98).
  bool has_odd_processes() const { return odd_processes_; }
  std::string error_text(int code) const;

 private:
  explicit NvmlLibrary(void* library) : handle_(library) {}
  Result<void> start();

  NvmlHandle handle_;
  NvmlFunctions functions_{handle_};
  bool started_ = false;
  bool odd_processes_ = false;
};

}  // namespace berth
