// JobFiles: the files that jobs write into: logs that berth names itself, files that users name,
// and whether there is room for more.
#pragma once

#include "daemon/log_folder.h"
#include "daemon/start_room.h"
#include "daemon/state_folder.h"
#include "daemon/user_files.h"

namespace berth {

struct JobFiles {
  JobFiles(StateFolder& state, const DaemonClock& clock)
      : logs(state.path("logs")),
        users([&log = state.log()](const std::string& text) { log.write(text); }),
        room(state.files(), logs, clock, state.log()) {}

  LogFolder logs;
  UserFiles users;
  StartRoom room;
};

}  // namespace berth
