#include "rl/candidates.h"

#include <algorithm>

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

}  // namespace berth
