// SimState: the opened state file that simulated devices share. Schedulers, simulated jobs and the
// fake driver library all go through it. A file lock guards every access, and the kernel releases
// it when its holder dies. Each access first drops the entries of dead processes, so kill -9 at any
// moment leaves nothing to repair. Any thread may call it.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"
#include "gpu/simulated/sim_layout.h"

namespace berth {

/// What a new state file holds.
struct SimShape {
  std::uint32_t count = 0;
  Bytes memory;
};

class SimState {
 public:
  /// Opens an existing file only.
  static Result<std::unique_ptr<SimState>> open(const std::string& path);
  /// Makes the file and its folder if they are missing. An existing file must hold shape.count
  /// devices.
  static Result<std::unique_ptr<SimState>> open_or_create(const std::string& path, SimShape shape);

  ~SimState();
  SimState(const SimState&) = delete;
  SimState& operator=(const SimState&) = delete;

  std::size_t size() const { return devices_.size(); }
  const std::string& path() const { return path_; }

  /// Calls body(SimHeader&, std::span<SimRecord>) under the lock. Dead processes have been dropped
  /// and energy has been counted up to now.
  template <class Body>
  auto locked(Body&& body) {
    const Lock lock(*this);
    return std::forward<Body>(body)(*header_, devices_);
  }

 private:
  class Lock {
   public:
    explicit Lock(SimState& state);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    SimState& state_;
  };

  SimState(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> prepare(const SimShape* shape);
  Result<void> map(std::size_t size);
  void write_new(SimShape shape);
  void forget_earlier_boot();

  std::string path_;
  Fd file_;
  std::mutex mutex_;  // the file lock does not tell threads apart
  SimHeader* header_ = nullptr;
  std::span<SimRecord> devices_;
};

/// Text in a fixed field of the file, which need not end in a zero byte.
template <std::size_t N>
std::string_view sim_text(const std::array<char, N>& field) {
  const std::string_view all(field.data(), N);
  return all.substr(0, all.find('\0'));
}
template <std::size_t N>
void set_sim_text(std::array<char, N>& field, std::string_view text) {
  field.fill('\0');
  text.substr(0, N).copy(field.data(), N);
}

/// Totals over the parts of a record. `slice` -1 means the whole device.
Bytes sim_memory(const SimRecord& device, int slice = -1);
Bytes sim_used(const SimRecord& device, int slice = -1);
int sim_utilization(const SimRecord& device);
/// The same, above 100 where processes want more than there is.
int sim_wanted_utilization(const SimRecord& device);
int sim_milliwatts(const SimRecord& device);
int sim_temperature(const SimRecord& device);

/// "MIG-…", stable and different for every slice.
std::string sim_slice_uuid(const SimRecord& device, int slice);

}  // namespace berth
