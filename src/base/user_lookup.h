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

  /// The user's identity, or nothing while it is not known: event_fd() becomes readable when it is
  /// time to call again. Each answer is given once.
  std::optional<Result<UserIdentity>> find(uid_t user);

  int event_fd() const { return shared_->event.get(); }
  /// Call this before find() when event_fd() is readable.
  void clear_event();

 private:
  /// A thread that still waits for an answer keeps this object alive.
  struct Shared {
    Fd event;
    std::mutex mutex;  // guards `asked`
    std::map<uid_t, std::optional<Result<UserIdentity>>> asked;
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace berth
