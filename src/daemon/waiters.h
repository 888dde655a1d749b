// Waiters: clients that are answered when jobs have ended. They are told of ends little by little,
// so that neither many clients nor many ends at once hold up the loop. A client that has gone is
// forgotten. Owned by the loop's thread.
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
  /// One client. Jobs that are added to `jobs` have not ended yet.
  struct Waiter {
    IdSet jobs;
    bool everything = false;  // waits for all jobs instead
    bool complete = false;    // no more jobs will be added: answered when all have ended
    std::uint64_t failed = 0;
    std::uint64_t since = 0;           // the number of the first end that it must be told of
    std::unique_ptr<Responder> reply;  // null: answered, or the client has gone

    bool gone() const { return reply == nullptr || reply->gone(); }
  };

  std::shared_ptr<Waiter> add(std::unique_ptr<Responder> reply);
  void job_ended(JobId job, bool failed);

  /// Tells the waiters what has happened, and answers the waiters that have nothing left to wait
  /// for. Goes on for about `at_most`. `idle`: no job waits or runs.
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
  std::deque<End> ends_;    // not all waiters have been told of these
  std::uint64_t told_ = 0;  // ends so far
};

}  // namespace berth
