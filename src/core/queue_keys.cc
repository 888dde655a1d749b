#include "core/queue_keys.h"

#include <algorithm>

namespace berth {
namespace {

constexpr std::size_t kMostInABlock = 128;

}  // namespace

/// The first block that does not end before the key; past all if there is none.
std::size_t QueueKeys::block_of(const QueueKey& key) const {
  if (!blocks_.empty() && key <= blocks_.front().back()) {
    return 0;
  }
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                          [&](const Block& each) { return each.back() < key; });
  return static_cast<std::size_t>(block - blocks_.begin());
}

void QueueKeys::insert(const QueueKey& key) {
  std::size_t at = blocks_.empty() || blocks_.back().back() < key ? blocks_.size() : block_of(key);
  if (at == blocks_.size()) {
    if (blocks_.empty() || blocks_.back().size() == kMostInABlock) {
      blocks_.emplace_back();
    }
    blocks_.back().push_back(key);
    return;
  }
  if (blocks_[at].size() == kMostInABlock) {
    const auto middle = blocks_[at].begin() + kMostInABlock / 2;
    Block second(middle, blocks_[at].end());
    blocks_[at].erase(middle, blocks_[at].end());
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(second));
    at += blocks_[at].back() < key ? 1 : 0;
  }
  Block& block = blocks_[at];
  block.insert(std::lower_bound(block.begin(), block.end(), key), key);
}

bool QueueKeys::erase(const QueueKey& key) {
  const std::size_t at = block_of(key);
  if (at == blocks_.size()) {
    return false;
  }
  Block& block = blocks_[at];
  const auto found = std::lower_bound(block.begin(), block.end(), key);
  if (*found != key) {
    return false;
  }
  block.erase(found);
  if (block.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return true;
}

bool QueueKeys::contains(const QueueKey& key) const {
  const std::size_t at = block_of(key);
  return at != blocks_.size() && std::binary_search(blocks_[at].begin(), blocks_[at].end(), key);
}

}  // namespace berth
