// LogFolder: the logs that berth names itself, ID.ATTEMPT.log. Those of the daemon's own user are
// in it; every other user has a folder of their own within it, named by their number, so that
// nobody can put a file where another's output will go. What a user has put into that folder is
// never followed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "store/query.h"

namespace berth {

class LogFolder {
 public:
  explicit LogFolder(std::string path = "") : path_(std::move(path)) {}

  /// Where the output of an attempt goes that names no file. Makes the user's folder where it is
  /// missing; a job for which it cannot be made fails to open its output and says so.
  std::string path_for(uid_t user, JobId job, std::uint16_t attempt) const;

  /// Removes the logs of these attempts; files that a user named are the user's and stay.
  void remove(const std::vector<ForgottenAttempt>& attempts) const;

 private:
  std::string path_;
};

}  // namespace berth
