#include "rl/candidates.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"

namespace berth {
namespace {

/// How many are known by name behind the candidates at most, and after a look at the queue.
constexpr std::size_t kMostNext = 1024;
constexpr std::size_t kNext = 512;

bool comes_before(const RankedJob& one, const QueueKey& key) { return one.key < key; }

}  // namespace

Candidates::Candidates() {
  window_.reserve(kMostCandidates + 1);
  next_.reserve(kMostNext + 1);
}

void Candidates::joined(const Job& job, const Needs& needs) {
  const QueueKey key{job.rank, job.id};
  const bool known_all = knows_all();
  ++waiting_;
  const bool among = !window_.empty() && key < window_.back().key;
  if (among || (known_all && next_.empty() && window_.size() < kMostCandidates)) {
    const auto place = std::lower_bound(window_.begin(), window_.end(), key, comes_before);
    window_.insert(place, describe_job(job, needs));
    if (window_.size() > kMostCandidates) {
      add_to_next(next_.end(), window_.back().key);
      window_.pop_back();
    }
  } else if (known_all || (!next_.empty() && key < next_.front())) {
    add_to_next(std::lower_bound(next_.begin(), next_.end(), key, std::greater<>()), key);
  }
}

void Candidates::add_to_next(std::vector<QueueKey>::iterator place, const QueueKey& key) {
  next_.insert(place, key);
  if (next_.size() > kMostNext) {
    next_.erase(next_.begin(), next_.end() - kNext);
  }
}

void Candidates::left(const Job& job) {
  const QueueKey key{job.rank, job.id};
  --waiting_;
  if (!window_.empty() && key <= window_.back().key) {
    const auto found = std::lower_bound(window_.begin(), window_.end(), key, comes_before);
    BERTH_CHECK(found->key == key);
    window_.erase(found);
  } else if (!next_.empty() && key <= next_.front()) {
    const auto found = std::lower_bound(next_.begin(), next_.end(), key, std::greater<>());
    BERTH_CHECK(found != next_.end() && *found == key);
    next_.erase(found);
  }
}

std::span<const RankedJob> Candidates::look(const View& view) {
  while (window_.size() < kMostCandidates && window_.size() < waiting_) {
    if (next_.empty()) {
      walk_.begin(view.queue(), window_.empty() ? std::nullopt : std::optional(window_.back().key));
      while (next_.size() < kNext && !walk_.at_end()) {
        next_.push_back(walk_.next());
      }
      std::reverse(next_.begin(), next_.end());
    }
    const Job& job = view.job(next_.back().job);
    next_.pop_back();
    window_.push_back(describe_job(job, view.queue().needs(job.shape)));
  }
  return window_;
}

Rest rest_of(const DeviceTable& devices, std::span<const RankedJob> jobs, std::size_t waiting) {
  Rest rest;
  rest.idle_devices = devices.idle();
  rest.serving = std::max<std::size_t>(devices.serving(), 1);
  rest.idle = static_cast<double>(rest.idle_devices) / static_cast<double>(rest.serving);
  rest.waiting = std::log1p(static_cast<double>(waiting)) / 10;
  for (const RankedJob& job : jobs) {
    rest.mean_length += job.log_length;
    rest.mean_gpus += job.log_gpus;
  }
  rest.mean_length /= static_cast<double>(jobs.size());
  rest.mean_gpus /= static_cast<double>(jobs.size());
  rest.device_memory = static_cast<double>(devices.largest_memory().count);
  return rest;
}

}  // namespace berth
