// UserLookup: asks the user database on threads of its own, because it may be a slow server.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "base/user.h"

namespace berth {

class UserLookup {
 public:
  UserLookup();

  /// Who that is, or nothing yet: event_fd() becomes readable when to ask again. An answer is given
  /// once.
  std::optional<Result<UserIdentity>> find(uid_t user);

  int event_fd() const { return shared_->event.get(); }
  /// To be called before find() when event_fd() is readable.
  void clear_event();

 private:
  /// A thread that still waits for an answer keeps it.
  struct Shared {
    Fd event;
    std::mutex mutex;  // guards what follows
    std::map<uid_t, std::optional<Result<UserIdentity>>> asked;
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace berth
