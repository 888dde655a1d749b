#include "rl/candidates.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace berth {
namespace {

bool comes_before(const RankedJob& one, const QueueKey& key) { return one.key < key; }

}  // namespace

void Candidates::joined(const Job& job, const Needs& needs) {
  const QueueKey key{job.rank, job.id};
  const bool in_window = !window_.empty() && key < window_.back().key;
  if (!in_window && (!behind_.empty() || window_.size() >= kMostCandidates)) {
    behind_.insert(behind_.end(), key);
    return;
  }
  const auto place = std::lower_bound(window_.begin(), window_.end(), key, comes_before);
  window_.insert(place, describe_job(job, needs));
  if (window_.size() > kMostCandidates) {
    behind_.insert(behind_.begin(), window_.back().key);
    window_.pop_back();
  }
}

void Candidates::left(const Job& job) {
  const QueueKey key{job.rank, job.id};
  const auto found = std::lower_bound(window_.begin(), window_.end(), key, comes_before);
  if (found != window_.end() && found->key == key) {
    window_.erase(found);
    return;
  }
  BERTH_CHECK(behind_.erase(key) == 1);
}

std::span<const RankedJob> Candidates::look(const View& view) {
  while (window_.size() < kMostCandidates && !behind_.empty()) {
    const Job& job = view.job(behind_.begin()->job);
    window_.push_back(describe_job(job, view.queue().needs(job.shape)));
    behind_.erase(behind_.begin());
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
