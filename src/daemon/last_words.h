// The last output of an attempt, which may say that the attempt ran out of memory.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "daemon/user_files.h"

namespace berth {

/// Reads the ends of the two files with the rights of the user. Either path may be empty. Calls
/// `done` before it returns or later. A file that does not answer counts as empty.
void read_last_words(UserFiles& files, uid_t user, const std::string& stdout_path,
                     const std::string& stderr_path, std::function<void(std::string)> done);

}  // namespace berth
