#include "core/queue_order.h"

#include <functional>
#include <queue>

namespace berth {

std::vector<JobId> first_in_order(const Queue& queue, std::size_t most) {
  struct Next {
    QueueKey key;
    ShapeId shape;
    QueueKeys::const_iterator at;

    bool operator>(const Next& other) const { return key > other.key; }
  };
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  std::vector<JobId> first;
  auto head = queue.heads().begin();
  while (first.size() < most && (head != queue.heads().end() || !next.empty())) {
    if (head != queue.heads().end() && (next.empty() || head->first < next.top().key)) {
      next.push({head->first, head->shape, queue.bucket(head->shape).jobs.begin()});
      ++head;
    }
    Next one = next.top();
    next.pop();
    first.push_back(one.key.job);
    if (++one.at != queue.bucket(one.shape).jobs.end()) {
      one.key = *one.at;
      next.push(one);
    }
  }
  return first;
}

}  // namespace berth
