// NeedsMix: what the jobs that wait or run ask for, as the numbers that Placement::Fgd weighs: how
// many jobs want so many devices with more than so much of each. Kept up to date job by job, and
// only where that placement is in use.
#pragma once

#include <array>
#include <map>
#include <tuple>

#include "core/needs.h"

namespace berth {

/// What the job would take of a device with this much memory, in thousandths; 0 bytes: not known.
std::int64_t part_of(const Needs& needs, Bytes device);

class NeedsMix {
 public:
  void keep(bool wanted) { kept_ = wanted; }
  /// Parts are those of a device with this much memory.
  void measure_by(Bytes device);

  void add(const Needs& needs) { change(needs, 1); }
  void remove(const Needs& needs) { change(needs, -1); }

  /// By part of a device: how many jobs want more than that.
  using Wanting = std::array<std::int64_t, kWholeShare + 1>;
  /// By the number of devices that a job wants.
  const std::map<std::uint32_t, Wanting>& wanting_more() const { return wanting_more_; }

 private:
  using Kind = std::tuple<std::uint32_t, std::uint32_t, Bytes>;  // devices, share, memory

  void change(const Needs& needs, std::int64_t by);
  void count(const Needs& needs, std::int64_t by);

  bool kept_ = false;
  Bytes device_;
  std::map<Kind, std::int64_t> jobs_;
  std::map<std::uint32_t, Wanting> wanting_more_;
};

}  // namespace berth
