#include "core/idle_index.h"

#include <algorithm>
#include <bit>

namespace berth {

void IdleIndex::add(const Locality& at) {
  const auto id = static_cast<std::uint32_t>(node_of_.size());
  if (nodes_.empty() || nodes_.back().number != at.node) {
    // Machines whose devices do not come in a row are left to the slow way.
    flat_ = flat_ && (nodes_.empty() || nodes_.back().number < at.node);
    nodes_.push_back({at.node, at, 0, 0, id});
  }
  Node& node = nodes_.back();
  flat_ = flat_ && node.at == at;
  largest_node_ = std::max<std::size_t>(largest_node_, ++node.size);
  node_of_.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
  bits_.resize(id / 64 + 1);
}

void IdleIndex::set_idle(DeviceId id, bool idle) {
  const std::uint64_t bit = std::uint64_t{1} << (id.value % 64);
  std::uint64_t& word = bits_[id.value / 64];
  if (((word & bit) != 0) == idle) {
    return;
  }
  word ^= bit;
  Node& node = nodes_[node_of_[id.value]];
  node.idle = idle ? node.idle + 1 : node.idle - 1;
  count_ = idle ? count_ + 1 : count_ - 1;
}

int IdleIndex::choose_node(std::uint32_t count, Choice choice) const {
  int best = -1;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].idle < count) {
      continue;
    }
    if (best < 0 || (choice == Choice::Fullest
                         ? nodes_[i].idle < nodes_[static_cast<std::size_t>(best)].idle
                         : nodes_[i].idle > nodes_[static_cast<std::size_t>(best)].idle)) {
      best = static_cast<int>(i);
    }
    if (choice == Choice::First) {
      break;
    }
  }
  return best;
}

std::vector<DeviceId> IdleIndex::take(int node, std::uint32_t count) const {
  std::vector<DeviceId> devices;
  devices.reserve(count);
  const std::uint32_t first = nodes_[static_cast<std::size_t>(node)].first;
  for (std::size_t i = first / 64; i < bits_.size() && devices.size() < count; ++i) {
    std::uint64_t word = bits_[i];
    if (i == first / 64) {
      word &= ~std::uint64_t{0} << (first % 64);
    }
    for (; word != 0 && devices.size() < count; word &= word - 1) {
      devices.push_back(DeviceId{
          static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word)))});
    }
  }
  return devices;
}

}  // namespace berth
