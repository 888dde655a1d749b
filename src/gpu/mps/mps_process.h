// The processes of NVIDIA's MPS: the control daemon of one device and user, and the commands sent
// to it. Processes of the user do everything in that user's folder. They get nothing of berth's
// environment when berth runs as another user.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "gpu/mps/mps_place.h"

namespace berth {

/// The path of nvidia-cuda-mps-control.
Result<std::string> find_mps_program();

struct MpsProcess {
  pid_t pid = 0;
  Fd fd;      // readable when it has ended
  Fd output;  // its output, in our memory; absent if we did not start the process
};

/// Starts a control daemon in a place that make_place() has made. It runs in the foreground of its
/// own session.
Result<MpsProcess> start_control(const std::string& program, const MpsPlace& place);
/// The last line of its output.
std::string last_words(const MpsProcess& control);
/// Signals the process. SIGKILL also goes to its process group.
void signal_control(const MpsProcess& control, int signal);

// Commands, which run beside the loop as processes of the place's user. When a command has ended,
// its output is complete.

/// Makes the folders of the place and looks for a control daemon there.
Result<MpsProcess> make_place(const MpsPlace& place);
/// Looks for a control daemon in the place.
Result<MpsProcess> look_in_place(const MpsPlace& place);
/// Sends a command to the control daemon, as in `echo get_server_list | nvidia-cuda-mps-control`.
Result<MpsProcess> tell_control(const std::string& program, const MpsPlace& place,
                                const std::string& words);
/// Removes the folders. No control daemon may be in them any more.
Result<MpsProcess> remove_place(const MpsPlace& place);

/// The output of a command. If the command failed, the output is the error message.
Result<std::string> output_of(const MpsProcess& command);
/// The control daemon that make_place() or look_in_place() has found, whichever berth instance
/// started it.
std::optional<MpsProcess> found_control(const MpsProcess& command, const MpsPlace& place);
/// The answer to get_server_list: process ids. Absent when there was no answer.
std::optional<std::vector<pid_t>> server_list(const MpsProcess& command);

}  // namespace berth
