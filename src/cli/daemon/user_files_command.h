// `berth user-files UID`: what a daemon starts to look at another user's files as that user. Not
// for people, so it is not among the commands.
#pragma once

#include "cli/commands.h"

namespace berth {

int user_files_main(Words words);

}  // namespace berth
