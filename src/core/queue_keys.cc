#include "core/queue_keys.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t kMostInABlock = 128;

using Places = std::vector<QueueKeys::Place>;

Places::iterator find_place(Places& places, const QueueKey& key) {
  return std::lower_bound(
      places.begin(), places.end(), key,
      [](const QueueKeys::Place& place, const QueueKey& other) { return place.key < other; });
}

Duration least_of(const Places& places) {
  Duration least = Duration::max();
  for (const QueueKeys::Place& place : places) {
    least = std::min(least, place.length);
  }
  return least;
}

}  // namespace

/// The first block that does not end before the key; past all if there is none.
std::size_t QueueKeys::block_of(const QueueKey& key) const {
  if (!blocks_.empty() && key <= blocks_.front().places.back().key) {
    return 0;
  }
  const auto block = std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& each) {
    return each.places.back().key < key;
  });
  return static_cast<std::size_t>(block - blocks_.begin());
}

const LeastTree<Duration>& QueueKeys::least_of_blocks() const {
  if (std::exchange(least_is_stale_, false)) {
    least_.build(blocks_.size(), [this](std::size_t at) { return blocks_[at].least; });
  }
  return least_;
}

void QueueKeys::set_least(std::size_t at, Duration least) {
  if (blocks_[at].least != least) {
    blocks_[at].least = least;
    if (!least_is_stale_) {
      least_.set(at, least);
    }
  }
}

void QueueKeys::append(const Place& place) {
  if (blocks_.empty() || blocks_.back().places.size() == kMostInABlock) {
    blocks_.emplace_back();
    least_is_stale_ = least_is_stale_ || blocks_.size() > least_.room();
  }
  blocks_.back().places.push_back(place);
  set_least(blocks_.size() - 1, std::min(blocks_.back().least, place.length));
}

/// Into two halves.
void QueueKeys::split(std::size_t at) {
  Places& places = blocks_[at].places;
  const auto middle = places.begin() + kMostInABlock / 2;
  Block second{Places(middle, places.end()), {}};
  second.least = least_of(second.places);
  places.erase(middle, places.end());
  blocks_[at].least = least_of(places);
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(second));
  least_is_stale_ = true;
}

void QueueKeys::insert(const QueueKey& key, Duration length) {
  std::size_t at =
      blocks_.empty() || blocks_.back().places.back().key < key ? blocks_.size() : block_of(key);
  if (at == blocks_.size()) {
    return append({key, length});
  }
  if (blocks_[at].places.size() == kMostInABlock) {
    split(at);
    at += blocks_[at].places.back().key < key ? 1 : 0;
  }
  Places& places = blocks_[at].places;
  places.insert(find_place(places, key), {key, length});
  set_least(at, std::min(blocks_[at].least, length));
}

bool QueueKeys::erase(const QueueKey& key) {
  const std::size_t at = block_of(key);
  if (at == blocks_.size()) {
    return false;
  }
  Places& places = blocks_[at].places;
  const auto found = find_place(places, key);
  if (found->key != key) {
    return false;
  }
  const Duration length = found->length;
  places.erase(found);
  if (places.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
    least_is_stale_ = true;
  } else if (length == blocks_[at].least) {
    set_least(at, least_of(places));
  }
  return true;
}

bool QueueKeys::contains(const QueueKey& key) const {
  const std::size_t at = block_of(key);
  if (at == blocks_.size()) {
    return false;
  }
  const Places& places = blocks_[at].places;
  const auto found = std::partition_point(places.begin(), places.end(),
                                          [&](const Place& place) { return place.key < key; });
  return found->key == key;
}

QueueKeys::const_iterator QueueKeys::behind(const QueueKey& key) const {
  const std::size_t at = block_of(key);
  if (at == blocks_.size()) {
    return end();
  }
  const Places& places = blocks_[at].places;
  const auto found = std::partition_point(places.begin(), places.end(),
                                          [&](const Place& place) { return place.key <= key; });
  return found == places.end()
             ? const_iterator(blocks_, at + 1)
             : const_iterator(blocks_, at, static_cast<std::size_t>(found - places.begin()));
}

const QueueKeys::Place* QueueKeys::first(Duration longest) const {
  if (blocks_.empty() || longest < least_length()) {
    return nullptr;
  }
  const Places& places = blocks_[blocks_.size() == 1 ? 0 : least_of_blocks().first(longest)].places;
  return &*std::find_if(places.begin(), places.end(),
                        [&](const Place& place) { return place.length <= longest; });
}

}  // namespace berth
