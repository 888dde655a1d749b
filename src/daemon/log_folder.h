// LogFolder: the logs that berth names itself, ID.ATTEMPT.log. Logs of the daemon's own user are
// directly in the folder. Every other user has a folder within it, named by the user's number, so
// that no user can put a file where another user's output will go. Links that a user has put into
// that folder are never followed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "store/query.h"

namespace berth {

class LogFolder {
 public:
  explicit LogFolder(std::string path = "") : path_(std::move(path)) {}

  /// Where the output of an attempt goes if the job names no file. Makes the user's folder if it is
  /// missing. If it cannot be made, the job fails to open its output and says so.
  std::string path_for(uid_t user, JobId job, std::uint16_t attempt) const;

  /// Removes the logs of these attempts. Files that a user named belong to the user and stay.
  void remove(const std::vector<ForgottenAttempt>& attempts) const;

 private:
  std::string path_;
};

}  // namespace berth
