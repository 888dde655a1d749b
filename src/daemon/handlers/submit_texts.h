// POST /v1/texts/check and submit: many jobs as one text. A thread reads it, so that a text of any
// length holds up nobody; the loop then says what it thinks of the jobs, and takes them in.
#pragma once

#include "daemon/desk.h"
#include "daemon/handlers/submit_jobs.h"
#include "daemon/routes.h"

namespace berth {

class SubmitTexts {
 public:
  SubmitTexts(Desk& desk, SubmitJobs& jobs) : desk_(desk), jobs_(jobs) {}

  void handle(RoutedRequest asked);

 private:
  struct ReadText;  // what a text has become
  HttpResponse checked(ReadText& read, uid_t user);
  void queue(Turns::Reply reply, ReadText& read, const Peer& peer);

  Desk& desk_;
  SubmitJobs& jobs_;
};

}  // namespace berth
