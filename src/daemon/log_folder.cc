#include "daemon/log_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/foreign_file.h"

namespace berth {
namespace {

/// Below the folder of all logs.
std::string name_of(uid_t user, JobId job, std::uint16_t attempt) {
  return user == ::getuid() ? fmt::format("{}.{}.log", job.value, attempt)
                            : fmt::format("{}/{}.{}.log", user, job.value, attempt);
}

}  // namespace

std::string LogFolder::path_for(uid_t user, JobId job, std::uint16_t attempt) const {
  if (user != ::getuid()) {
    const Fd logs(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    (void)make_folder_below(logs.get(), std::to_string(user), user).has_value();
  }
  return fmt::format("{}/{}", path_, name_of(user, job, attempt));
}

void LogFolder::remove(const std::vector<ForgottenAttempt>& attempts) const {
  const Fd logs(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const ForgottenAttempt& each : attempts) {
    (void)remove_below(logs.get(), name_of(each.user, each.job, each.attempt)).has_value();
  }
}

}  // namespace berth
