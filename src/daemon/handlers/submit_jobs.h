// POST /v1/jobs. Short requests are read at once. A thread reads long requests, so that they do not
// hold up others. The loop then only takes in the jobs that were read.
#pragma once

#include <functional>
#include <string>

#include "api/loop.h"
#include "daemon/desk.h"
#include "daemon/intake.h"
#include "daemon/routes.h"
#include "daemon/worker.h"

namespace berth {

class SubmitJobs {
 public:
  SubmitJobs(Desk& desk, Loop& loop, Worker& worker)
      : desk_(desk), loop_(loop), worker_(worker), intake_(desk) {}

  void handle(RoutedRequest asked);

  // For handlers that make jobs from something else, such as texts.

  /// Runs on the loop and answers.
  using Finish = std::function<void(Turns::Reply)>;
  /// Runs on the worker, with the body.
  using Read = std::function<Finish(std::string, const Worker::Turn&)>;
  void read_apart(RoutedRequest asked, Read read);
  void queue(Turns::Reply reply, Result<SubmitRequest> wanted, const Peer& peer);

  /// Drops half a submission of a daemon that died, as if it had never been made.
  void drop_staged(JobId first) { intake_.drop_staged(first); }

 private:
  void take_in(SubmitRequest wanted, const Peer& peer, Turns::Reply reply);
  HttpResponse take_in_now(SubmitRequest& wanted, uid_t user);

  Desk& desk_;
  Loop& loop_;
  Worker& worker_;
  Intake intake_;
};

}  // namespace berth
