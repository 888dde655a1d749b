// Recording: what devices did over time, and who was on them. It has no clock and no files; times
// come with what it is told. Its size has a bound however long the recording goes on: old readings
// are merged two by two, and totals do not change by that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "gpu/devices.h"

namespace berth {

/// A reading, or the mean of some.
struct UsePoint {
  Time at;
  double utilization = 0;  // percent
  double watts = 0;
  double joules = 0;  // since the beginning
};

/// A device over the whole recording.
struct DeviceRecord {
  std::string name;
  std::string model;
  std::uint64_t readings = 0;
  std::vector<UsePoint> points;
  std::optional<double> mean_utilization;  // percent, over time
  std::optional<double> mean_memory_busy;
  std::optional<double> mean_watts;
  double peak_watts = 0;
  std::optional<double> joules;
  bool counted = false;  // the joules are the driver's own count, not made of readings of power
};

/// A job's or a process's time on one device.
struct Occupation {
  std::size_t who = 0;  // index into Recording::names()
  std::size_t device = 0;
  Time from;
  Time to = kNever;  // kNever: it is still there
};

class Recording {
 public:
  explicit Recording(const std::vector<DeviceInfo>& devices);

  /// One sample for each device. A device that is listed twice counts once, the first time.
  void sampled(const std::vector<DeviceSample>& samples, Time at);

  /// A job or a process is on this device. `key` identifies it; `name` is shown.
  void enter(std::uint64_t key, const std::string& name, std::size_t device, Time at);
  void leave(std::uint64_t key, std::size_t device, Time at);
  /// Ends what is still there.
  void finish(Time at);

  /// All devices, each once.
  std::vector<DeviceRecord> devices() const;
  /// The names of devices by the index that enter() takes.
  const std::vector<std::string>& slots() const { return slots_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Occupation>& occupations() const { return occupations_; }
  /// Whether more came than are kept in occupations().
  bool cut() const { return cut_; }
  Time begin() const { return begin_; }
  Time end() const { return end_; }

 private:
  struct Meter {
    DeviceRecord record;
    std::optional<DeviceSample> last;
    Time last_at{};
    double first_count = 0;  // of the driver's joules
    // Sums over seconds, and the seconds over which they go.
    double utilization = 0, utilization_seconds = 0;
    double memory_busy = 0, memory_seconds = 0;
    double watts = 0, watt_seconds = 0;
    std::size_t step = 1;  // readings that go into one point
    std::size_t in_point = 0;
  };
  static void add(Meter& meter, const DeviceSample& sample, Time at);
  static void add_point(Meter& meter, UsePoint point);
  void extend(Time at);

  std::vector<std::optional<Meter>> meters_;  // by device; nothing for a second mention
  std::vector<std::string> slots_;
  std::vector<std::string> names_;
  std::map<std::uint64_t, std::size_t> keys_;
  std::vector<Occupation> occupations_;
  std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> present_;  // into occupations_
  bool cut_ = false;
  Time begin_ = kNever;
  Time end_{};
};

}  // namespace berth
