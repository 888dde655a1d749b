// Sending jobs to the daemon, and following one to its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/messages/submit.h"

namespace berth {

/// Starts a daemon if none runs. A submission that is too large for one request is sent in several.
/// The daemon takes each request whole or not at all, and the same token gives the same jobs again
/// for all of them. The replies are in the order of the jobs.
Result<std::vector<SubmitReply>> send_submission(const SubmitRequest& submission);

/// The most jobs that one command queues. A larger number is probably a mistake.
inline constexpr std::size_t kMostQueued = 1'000'000;

/// "12", "12-40", or "12-40 51-60".
std::string job_ranges(const std::vector<SubmitReply>& replies);

/// Which part of the output of a job to print.
struct LogRequest {
  std::uint64_t job = 0;
  std::int64_t attempt = 0;  // 0: the newest
  bool onward = true;        // with `follow`: also the attempts after it
  std::int64_t tail = -1;    // how many of the last existing lines to print; -1: all
  bool errors = false;       // the error output, if it is separate
  bool follow = false;       // until the job has ended
};

/// A piece of the output of one attempt.
struct LogPiece {
  std::uint16_t attempt = 0;
  std::int64_t end = 0;  // where in the output the piece ends
  std::string_view text;
};

/// Passes the job's output to `print`, piece by piece.
Result<void> read_log(const LogRequest& request, const std::function<void(const LogPiece&)>& print);

/// Prints the job's output as it arrives. Returns the job's exit code as a shell would report it.
Result<int> follow_job(std::uint64_t job);

}  // namespace berth
