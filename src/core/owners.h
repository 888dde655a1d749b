// Owners: the owners to whom the use of devices is charged, as numbers for the scheduler. The
// numbers only tell owners apart, so they need not be the same after a restart.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace berth {

/// Whether policies are fair between projects or between users. If several users share a queue,
/// policies are fair between users: a project's name is free to choose, and a user who splits work
/// into ten projects must not get ten shares.
enum class ChargedTo : std::uint8_t { Project, User };

class Owners {
 public:
  explicit Owners(ChargedTo whom = ChargedTo::Project) : whom_(whom) {}

  ChargedTo whom() const { return whom_; }

  /// All jobs without a project belong to one owner.
  OwnerId of(std::string_view project, uid_t user) {
    const std::string number = whom_ == ChargedTo::User ? std::to_string(user) : "";
    const std::string_view name = whom_ == ChargedTo::User ? number : project;
    const auto found = ids_.find(name);
    if (name.empty() || found != ids_.end()) {
      return name.empty() ? OwnerId{} : found->second;
    }
    return ids_.emplace(name, OwnerId{static_cast<std::uint32_t>(ids_.size() + 1)}).first->second;
  }

 private:
  ChargedTo whom_;
  std::map<std::string, OwnerId, std::less<>> ids_;
};

}  // namespace berth
