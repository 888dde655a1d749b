// POST /v1/texts/check and submit: many jobs as one text. A thread reads the text, so that a text
// of any length does not hold up other requests. The loop then checks the jobs or takes them in.
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
  struct ReadText;  // the result of reading a text
  HttpResponse checked(ReadText& read, uid_t user);
  void queue(Turns::Reply reply, ReadText& read, const Peer& peer);

  Desk& desk_;
  SubmitJobs& jobs_;
};

}  // namespace berth
