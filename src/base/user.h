// How the kernel identifies a user of this machine: what a process must become to act as that user,
// with that user's rights and no others.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

struct UserIdentity {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;
  std::string name;
  std::string home;
};

/// Asks the user database, which may be a slow server: not for the daemon's loop.
Result<UserIdentity> find_user(uid_t user);

}  // namespace berth
