// UsageLog: what an attempt used of its devices over time, in a bounded number of points. When
// there are too many, every two become one. A plain value, for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/units.h"

namespace berth {

class UsageLog {
 public:
  static constexpr std::size_t kMostPoints = 600;

  struct Reading {
    Bytes memory;                    // of the job
    std::optional<int> utilization;  // of the device, percent
  };

  explicit UsageLog(std::vector<std::string> devices) : devices_(std::move(devices)) {}

  /// Adds one reading for each device. Within a point, memory is the highest and utilisation the
  /// mean.
  void add(Time at, const std::vector<Reading>& readings);

  /// The energy that the attempt has used so far, in joules; absent when unknown.
  void set_energy(std::optional<double> joules) { energy_ = joules; }
  std::optional<double> energy() const { return energy_; }
  /// The most that the attempt has used of each device.
  std::vector<Bytes> peaks() const;

  /// For a file. decode() returns nothing when the bytes make no sense.
  std::string encode() const;
  static std::optional<UsageLog> decode(std::string_view bytes);

  const std::vector<std::string>& devices() const { return devices_; }
  std::size_t points() const { return points_.size(); }
  Time time(std::size_t point) const { return begun_ + points_[point].number * width_; }
  Bytes memory(std::size_t point, std::size_t device) const {
    return points_[point].cells[device].memory;
  }
  /// Absent when the device does not report it.
  std::optional<double> utilization(std::size_t point, std::size_t device) const;

 private:
  struct Cell {
    Bytes memory;
    double busy = 0;  // a sum
    int count = 0;

    void merge(const Cell& other);
  };
  struct Point {
    std::int64_t number = 0;  // of its interval since the beginning
    std::vector<Cell> cells;

    void merge(const Point& other);
  };

  void halve();

  std::vector<std::string> devices_;
  Time begun_{};
  Duration width_ = std::chrono::seconds(1);
  std::vector<Point> points_;
  std::optional<double> energy_;
};

}  // namespace berth
