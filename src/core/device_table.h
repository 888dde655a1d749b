// DeviceTable: the devices, what is leased on each, and whether more fits. Owned by the scheduler.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "core/device.h"
#include "core/idle_index.h"
#include "core/needs.h"
#include "core/needs_mix.h"

namespace berth {

/// One job's hold on one device.
struct DeviceLease {
  JobId job;
  Bytes memory;
  std::uint32_t share = 0;
  bool alone = false;
  std::uint32_t mps = 0;  // see Needs
  Bytes used = {};        // if more than the claim

  /// The memory that is not available to other jobs.
  Bytes held() const { return std::max(memory, used); }
};

struct DeviceSlot {
  DeviceSpec spec;
  DeviceHealth health = DeviceHealth::Ok;
  Bytes foreign;       // held by processes that are not ours
  bool taken = false;  // leased by another berth instance; then no job of ours is on it
  std::vector<DeviceLease> leases;
};

/// Which of the fitting devices a job gets.
enum class Placement : std::uint8_t {
  Pack,         // where the fewest others are free, so that big jobs find whole neighbourhoods
  BestFit,      // where the least memory is left over
  LeastLoaded,  // where the fewest jobs run
  Spread,       // where the most others are free
  Fgd,          // where the least is added to what other jobs cannot use
  Idle,  // idle devices while enough stay idle for jobs that wait for whole ones; then where the
         // fewest jobs run
};
inline constexpr Placement kUsualPlacement = Placement::Idle;

/// As `--placement` names them.
std::vector<std::string_view> placement_names();
std::string_view placement_name(Placement placement);
Result<Placement> parse_placement(std::string_view name);

class DeviceTable {
 public:
  struct Limits {
    Bytes buffer = mebibytes(512);  // kept free beside claims on a shared device
    std::uint32_t cpu_slots = 1;    // jobs without a GPU that may run at once
  };

  explicit DeviceTable(Limits limits) : limits_(limits) {}

  DeviceId add(DeviceSpec spec);
  std::size_t size() const { return slots_.size(); }
  const DeviceSlot& operator[](DeviceId id) const { return slots_[id.value]; }
  std::span<const DeviceSlot> all() const { return slots_; }

  void set_health(DeviceId id, DeviceHealth health);
  void set_foreign(DeviceId id, Bytes foreign);
  void set_taken(DeviceId id, bool taken);

  /// Whether the device could take this job now, or, for fits_when_empty(), if it had no leases.
  bool fits(DeviceId id, const Needs& needs) const;
  bool fits_when_empty(DeviceId id, const Needs& needs) const;
  /// Whether the job would fit if only these leases were left.
  bool fits_beside(DeviceId id, const Needs& needs, std::span<const DeviceLease> leases) const;

  /// Whether the job would fit if the device's jobs used MPS as this job does, or if this job used
  /// it as they do.
  bool fits_but_for_mps(DeviceId id, const Needs& needs) const;

  /// Devices for a job, near each other if it needs several; nothing when it does not fit now.
  /// `avoid` lists devices that are kept for another job. `whole_wanted` is how many whole devices
  /// other waiting jobs want; Placement::Idle leaves that many idle where it can. `mix` is what
  /// Placement::Fgd weighs.
  std::optional<std::vector<DeviceId>> place(const Needs& needs, Placement placement,
                                             std::span<const DeviceId> avoid = {},
                                             std::size_t whole_wanted = 0,
                                             const NeedsMix* mix = nullptr) const;

  /// Whether place() would find devices, as far as their number tells: nothing where it depends on
  /// which machines they are in.
  std::optional<bool> has_room(const Needs& needs) const;

  /// An error when no state of the leases would ever let this job start.
  std::optional<std::string> impossible(const Needs& needs) const;

  /// No job with a larger claim fits on any device now, but for those to avoid.
  Bytes most_room(std::span<const DeviceId> avoid = {}) const;
  /// The memory of the largest device.
  Bytes largest_memory() const { return largest_memory_; }
  /// How many devices a job could have to itself now.
  std::size_t idle() const { return idle_.count(); }

  /// How many devices may take jobs, busy or not.
  std::size_t serving() const { return serving_; }

  bool cpu_free() const { return cpu_used_ < limits_.cpu_slots; }
  std::uint32_t cpu_slots() const { return limits_.cpu_slots; }

  /// The memory that a job uses on a device that it has leased, when that exceeds its claim.
  void set_used(JobId job, DeviceId device, Bytes used);

  void lease(JobId job, const Needs& needs, std::span<const DeviceId> devices);
  void release(JobId job, std::span<const DeviceId> devices);

  /// Grows whenever something may fit that did not fit before.
  std::uint64_t freed() const { return freed_; }

 private:
  bool matches(const DeviceSlot& slot, const Needs& needs) const;
  std::optional<std::vector<DeviceId>> place_whole(std::uint32_t count, Placement placement) const;
  /// Brings the counts up to date after a change to the device.
  void refresh(DeviceId id);

  Limits limits_;
  std::vector<DeviceSlot> slots_;
  std::size_t serving_ = 0;
  std::size_t present_ = 0;  // all but the removed devices
  IdleIndex idle_;
  Bytes largest_memory_;
  std::uint32_t cpu_used_ = 0;
  std::uint64_t freed_ = 1;
};

}  // namespace berth
