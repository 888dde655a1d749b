// Intake: takes in a submission of very many jobs, piece by piece, so that others are served
// meanwhile.
//
// All or nothing: every job is looked at first; then all are written to the store, where nobody
// sees them (store/staged.h); and when all are there, they are shown and the scheduler is told of
// them. A client that goes, or a daemon that dies, before that leaves nothing; after it,
// everything. What is shown, the scheduler knows: commands find no job that is only half there.
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
  /// A submission that is told again while it is taken in is the same one: then true, and it is
  /// answered with the first.
  bool join(uid_t user, const std::string& token, Turns::Reply& reply);
  /// What was staged from `first` on, and is not to be.
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
