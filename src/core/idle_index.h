// IdleIndex: the devices that a job could have to itself right now, by machine, so that the
// placement of whole devices need not look at each device. Owned by the DeviceTable.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "core/device.h"

namespace berth {

class IdleIndex {
 public:
  /// Devices are added in order of id.
  void add(const Locality& at);
  void set_idle(DeviceId id, bool idle);

  /// False when some devices of a machine are nearer to each other than others: choosing among them
  /// then takes more than counting.
  bool flat() const { return flat_; }
  std::size_t largest_node() const { return largest_node_; }
  /// How many devices are idle.
  std::size_t count() const { return count_; }

  enum class Choice : std::uint8_t { Fullest, Emptiest, First };
  /// A machine with enough idle devices: the one with the fewest or the most of them, or just the
  /// first; -1: none.
  int choose_node(std::uint32_t count, Choice choice) const;
  /// The first `count` idle devices of the machine.
  std::vector<DeviceId> take(int node, std::uint32_t count) const;

 private:
  struct Node {
    std::uint16_t number = 0;
    Locality at;
    std::uint32_t idle = 0;
    std::uint32_t size = 0;
    std::uint32_t first = 0;  // device
  };

  std::vector<Node> nodes_;  // in the order of their numbers
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint64_t> bits_;
  std::size_t largest_node_ = 0;
  std::size_t count_ = 0;
  bool flat_ = true;
};

}  // namespace berth
