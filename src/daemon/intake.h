// Intake: takes in a submission of very many jobs, piece by piece, so that other requests are
// served meanwhile.
//
// A submission is taken in whole or not at all. Every job is checked first. Then all jobs are
// written to the store, where they are still invisible (store/staged.h). When all are there, they
// are shown and the scheduler is told about them. If the client goes or the daemon dies before
// that, nothing remains; after that, everything does. The scheduler knows every job that is shown,
// so commands find no job that is only half there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/messages.h"
#include "daemon/desk.h"

namespace berth {

class Intake {
 public:
  explicit Intake(Desk& desk) : desk_(desk) {}

  void begin(SubmitRequest wanted, uid_t user, Turns::Reply reply);
  /// A submission that is sent again while it is being taken in is the same submission. Then join()
  /// returns true, and `reply` is answered together with the first.
  bool join(uid_t user, const std::string& token, Turns::Reply& reply);
  /// Drops the submission that was staged from `first` on.
  void drop_staged(JobId first);

 private:
  struct Incoming;
  using Shared = std::shared_ptr<Incoming>;

  void run(const Shared& incoming);
  bool go_on(Incoming& incoming);
  bool check_some(Incoming& incoming);
  bool stage(Incoming& incoming);
  bool write_some(Incoming& incoming);
  void complete(Incoming& incoming);
  bool queue_some(Incoming& incoming);
  bool refuse(Incoming& incoming, const Error& error);

  Desk& desk_;
  std::vector<Shared> under_way_;
};

}  // namespace berth
