// The messages between the daemon, the launcher and the shims. Requests go to the launcher on a
// stream, each with its length in front, because an environment may be megabytes. Messages come
// back from the launcher and its newborn shims, each in its own packet, so that many processes may
// write at once.
//
// Each shim also has a wire of its own to the daemon, of packets both ways. On it the shim tells
// how its job has ended, and gets the request for the next. Either side may close it at any time:
// then the shim exits when its job has ended, and the folder tells how.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "exec/attempt_record.h"

namespace berth {

struct ShimLaunch;

/// A request as the shim reads it, in place: every string ends in a null character.
struct ShimRequest {
  std::uint64_t serial = 0;
  AttemptName name;
  uid_t user = 0;
  char* command = nullptr;
  char* directory = nullptr;
  char* stdout_path = nullptr;
  char* stderr_path = nullptr;
  char* cgroup = nullptr;
  char* spare_file = nullptr;      // of an attempt that is over, or empty
  std::vector<char*> environment;  // null-terminated
  std::vector<char*> locks;
};

/// Refuses a launch that cannot be passed on to a program: strings with null characters, and sizes
/// beyond reason.
Result<std::string> encode_request(const ShimLaunch& launch, std::uint64_t serial,
                                   const std::string& cgroup, const std::string& spare_file);

/// The size of the request at the start of `bytes`; nothing while its length is incomplete.
std::optional<std::size_t> request_size(std::string_view bytes);

/// These take one whole request.
std::uint64_t request_serial(const char* bytes);
/// The result points into `bytes`.
ShimRequest decode_request(char* bytes);

struct ShimMessage {
  enum class Kind : std::uint32_t {
    Ready,   // the launcher serves; no newborn shims of other launchers are left. With a descriptor
             // that shares the launcher's lock
    Forked,  // the shim `pid`, with descriptors of it and of its wire
    Started,  // the job `pid`
    Exists,   // the attempt has a file already: it is not run again
    Failed,   // the shim could not be forked, or could not make the file: `error` and `step`
    Ended,    // the attempt is over, as its file tells: `end`. The shim waits for another
    Stopped,  // the job has stopped, as it was told
    Resumed,  // the job goes on, as it was told
  };
  Kind kind = Kind::Ready;
  std::int32_t error = 0;
  std::uint64_t serial = 0;
  pid_t pid = 0;
  StartStep step = StartStep::None;
  EndRecord end;
};

/// Blocks while the daemon is behind. False when the daemon is gone. Descriptors (else -1) are sent
/// along.
bool send_message(int socket, const ShimMessage& message, int descriptor = -1, int second = -1);

struct ReceivedMessage {
  ShimMessage message;
  std::array<Fd, 2> descriptors;
};
enum class Receive { Message, Nothing, Closed };
/// Never blocks.
Receive receive_message(int socket, ReceivedMessage& received);

// --- requests on a shim's own wire

/// The longest that is sent there. A larger one takes the way by the launcher.
inline constexpr std::size_t kLongestOnWire = std::size_t{64} * 1024;

/// Never blocks. `lock` goes along: it shares the launcher's lock until the shim has recorded the
/// attempt or is gone. False when the shim cannot be told; then it has not been.
bool send_next(int wire, const std::string& request, int lock);
/// Waits for the next request and puts it into `bytes`, which has room for kLongestOnWire. False
/// when there will be none.
bool receive_next(int wire, char* bytes, int& lock);

}  // namespace berth
