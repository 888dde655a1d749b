// What an attempt has printed last: it may say that the attempt ran out of memory.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "daemon/user_files.h"

namespace berth {

/// Reads the end of the two files, either of which may have no path, with the rights of the user.
/// Calls `done` before it returns or later; where the files do not answer, nothing was said.
void read_last_words(UserFiles& files, uid_t user, const std::string& stdout_path,
                     const std::string& stderr_path, std::function<void(std::string)> done);

}  // namespace berth
