// `berth user-files UID`: the daemon starts this command to look at another user's files as that
// user. It is not meant for users, so it is not listed among the commands.
#pragma once

#include "cli/commands.h"

namespace berth {

int user_files_main(Words words);

}  // namespace berth
