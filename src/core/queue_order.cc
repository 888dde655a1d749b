#include "core/queue_order.h"

#include <algorithm>

namespace berth {
namespace {

/// For a heap whose top comes first.
constexpr auto kComesLater = [](const auto& one, const auto& other) { return *one.at > *other.at; };

}  // namespace

void QueueWalk::begin(const Queue& queue, const std::optional<QueueKey>& after) {
  queue_ = &queue;
  head_ = queue.heads().begin();
  met_.clear();
  for (; after && head_ != queue.heads().end() && head_->first <= *after; ++head_) {
    const QueueKeys& jobs = queue.bucket(head_->shape).jobs;
    meet({head_->shape, jobs.behind(*after)});
  }
}

void QueueWalk::meet(const Next& next) {
  if (next.at != queue_->bucket(next.shape).jobs.end()) {
    met_.push_back(next);
    std::push_heap(met_.begin(), met_.end(), kComesLater);
  }
}

QueueKey QueueWalk::next() {
  if (head_ != queue_->heads().end() && (met_.empty() || head_->first < *met_.front().at)) {
    meet({head_->shape, queue_->bucket(head_->shape).jobs.begin()});
    ++head_;
  }
  std::pop_heap(met_.begin(), met_.end(), kComesLater);
  Next one = met_.back();
  met_.pop_back();
  const QueueKey key = *one.at;
  ++one.at;
  meet(one);
  return key;
}

std::vector<JobId> first_in_order(const Queue& queue, std::size_t most) {
  std::vector<JobId> first;
  QueueWalk walk;
  for (walk.begin(queue); first.size() < most && !walk.at_end();) {
    first.push_back(walk.next().job);
  }
  return first;
}

}  // namespace berth
