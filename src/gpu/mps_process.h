// The processes of NVIDIA's MPS: the control daemon of one device and user, and what it is told.
// Everything in a user's folder is done by processes of that user, so that a berth that runs as
// root never writes where somebody else may have put a link.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

/// Where a control daemon and its clients meet. The path is short, because sockets are in it.
struct MpsPlace {
  std::string folder;   // for this control daemon alone
  std::string visible;  // its device's word in CUDA_VISIBLE_DEVICES
  uid_t user = 0;       // whose jobs it serves
  std::string mark;     // "NAME=value" for its environment; empty: none

  std::string pipe() const { return folder + "/pipe"; }
  std::string log() const { return folder + "/log"; }
};

/// The folder for MPS of a user, /tmp/berth-mps-UID.
std::string mps_root(uid_t user);
/// Those there are.
std::vector<uid_t> mps_users();

/// The path of nvidia-cuda-mps-control.
Result<std::string> find_mps_program();

struct MpsProcess {
  pid_t pid = 0;
  Fd fd;  // readable when it has ended
};

/// The control daemon that runs in this place, whichever berth has started it.
std::optional<MpsProcess> find_control(const MpsPlace& place);

/// Starts one, in the foreground of a session of its own, in a place that make_place() has made.
Result<MpsProcess> start_control(const std::string& program, const MpsPlace& place);
/// The last line of what the one that was started last had to say.
std::string last_words(const MpsPlace& place);
/// Ends it and all that it has started.
void signal_control(const MpsProcess& control, int signal);

/// Something that is done beside the loop; when `process` has ended, `output` is complete.
struct MpsCommand {
  MpsProcess process;
  Fd output;
};
/// Tells the control daemon, as in `echo get_server_list | nvidia-cuda-mps-control`.
Result<MpsCommand> tell_control(const std::string& program, const MpsPlace& place,
                                const std::string& words);
/// Makes the folders of the place.
Result<MpsCommand> make_place(const MpsPlace& place);
/// Removes them, when no control daemon is in them any more.
Result<MpsCommand> remove_place(const MpsPlace& place);

/// What it printed, or, as an error, its complaint.
Result<std::string> output_of(const MpsCommand& command);
/// The answer to get_server_list: ids of processes. Nothing when nobody has answered.
std::optional<std::vector<pid_t>> server_list(const MpsCommand& command);

}  // namespace berth
