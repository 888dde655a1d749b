// Waiters: clients that are answered when jobs have ended. They hear of ends little by little, so
// that neither many clients nor many ends at once hold anybody up; a client that has gone is
// forgotten. Of the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>

#include "api/http_server.h"
#include "base/time.h"
#include "daemon/scans/id_set.h"

namespace berth {

class Waiters {
 public:
  /// One client. What is added to `jobs` has not ended yet.
  struct Waiter {
    IdSet jobs;
    bool everything = false;  // or all there are
    bool complete = false;    // no more will be added: it is answered when all have ended
    std::uint64_t failed = 0;
    std::uint64_t since = 0;           // the number of the first end that it is to hear of
    std::unique_ptr<Responder> reply;  // absent: it is done with

    bool gone() const { return reply == nullptr || reply->gone(); }
  };

  std::shared_ptr<Waiter> add(std::unique_ptr<Responder> reply);
  void job_ended(JobId job, bool failed);

  /// Tells the waiters what has happened, and answers those who have nothing left to wait for. Goes
  /// on for about so long. `idle`: no job waits or runs.
  void settle(bool idle, Duration at_most);
  /// Whether settle() has more to do.
  bool behind() const { return !ends_.empty(); }

  std::size_t size() const { return waiters_.size(); }

 private:
  struct End {
    JobId job;
    bool failed = false;
    std::uint64_t number = 0;
  };

  std::list<std::shared_ptr<Waiter>> waiters_;
  std::deque<End> ends_;    // of which not all waiters have heard
  std::uint64_t told_ = 0;  // ends so far
};

}  // namespace berth
