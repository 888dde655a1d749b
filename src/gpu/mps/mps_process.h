// The processes of NVIDIA's MPS: the control daemon of one device and user, and what it is told.
// Everything in a user's folder is done by processes of that user, which get nothing of the
// environment of a berth that is another user's.
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
  Fd output;  // what it prints, in our memory; absent for one that we have not started
};

/// Starts a control daemon, in the foreground of a session of its own, in a place that make_place()
/// has made.
Result<MpsProcess> start_control(const std::string& program, const MpsPlace& place);
/// The last line of what it had to say.
std::string last_words(const MpsProcess& control);
/// Ends it and all that it has started.
void signal_control(const MpsProcess& control, int signal);

// Commands: done beside the loop by processes of the place's user. When one has ended, its output
// is complete.

/// Makes the folders of the place, and looks who is there.
Result<MpsProcess> make_place(const MpsPlace& place);
/// Looks who is there.
Result<MpsProcess> look_in_place(const MpsPlace& place);
/// Tells the control daemon, as in `echo get_server_list | nvidia-cuda-mps-control`.
Result<MpsProcess> tell_control(const std::string& program, const MpsPlace& place,
                                const std::string& words);
/// Removes the folders, when no control daemon is in them any more.
Result<MpsProcess> remove_place(const MpsPlace& place);

/// What a command printed, or, as an error, its complaint.
Result<std::string> output_of(const MpsProcess& command);
/// The control daemon that make_place() or look_in_place() has found, whichever berth started it.
std::optional<MpsProcess> found_control(const MpsProcess& command, const MpsPlace& place);
/// The answer to get_server_list: ids of processes. Nothing when nobody has answered.
std::optional<std::vector<pid_t>> server_list(const MpsProcess& command);

}  // namespace berth
