#include "daemon/waiters.h"

#include <chrono>
#include <utility>

#include "api/messages/command.h"
#include "daemon/replies.h"

namespace berth {

std::shared_ptr<Waiters::Waiter> Waiters::add(std::unique_ptr<Responder> reply) {
  auto waiter = std::make_shared<Waiter>();
  waiter->reply = std::move(reply);
  waiter->since = told_;
  waiters_.push_back(waiter);
  return waiter;
}

void Waiters::job_ended(JobId job, bool failed) {
  if (!waiters_.empty()) {
    ends_.push_back({job, failed, told_});
  }
  ++told_;
}

void Waiters::settle(bool idle, Duration at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!ends_.empty() && std::chrono::steady_clock::now() < until) {
    const End end = ends_.front();
    ends_.pop_front();
    for (const std::shared_ptr<Waiter>& waiter : waiters_) {
      if (end.number >= waiter->since && waiter->jobs.erase(end.job)) {
        waiter->failed += end.failed ? 1 : 0;
      }
    }
  }
  waiters_.remove_if([&](const std::shared_ptr<Waiter>& waiter) {
    if (waiter->gone()) {
      waiter->reply.reset();
      return true;
    }
    const bool over = waiter->everything ? idle : waiter->jobs.empty();
    if (!waiter->complete || !over || behind()) {
      return false;
    }
    waiter->reply->respond(json(to_json(WaitReply{waiter->failed})));
    waiter->reply.reset();
    return true;
  });
}

}  // namespace berth
