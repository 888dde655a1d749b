// Sending jobs to the daemon, and following one to its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/messages/submit.h"

namespace berth {

/// Starts a daemon where none runs. What is more than one request may hold goes in several, each of
/// which is taken whole or not at all, and the same token gives the same jobs again for all of
/// them; the answers are in the order of the jobs.
Result<std::vector<SubmitReply>> send_submission(const SubmitRequest& submission);

/// What a command queues at most: beyond that something was probably mistaken.
inline constexpr std::size_t kMostQueued = 1'000'000;

/// "12", "12-40", or "12-40 51-60".
std::string job_ranges(const std::vector<SubmitReply>& replies);

/// Which part of the output of a job to print.
struct LogWish {
  std::uint64_t job = 0;
  std::int64_t attempt = 0;  // 0: the newest
  bool onward = true;        // with `follow`: and those after it
  std::int64_t tail = -1;    // only the last so many lines of what is there; -1: all
  bool errors = false;       // what went to its error output, where that is apart
  bool follow = false;       // until the job has ended
};

/// Gives out what the job has written, piece by piece.
Result<void> read_log(const LogWish& wish, const std::function<void(std::string_view)>& print);

/// Prints the job's output as it comes; the exit code of the job, as a shell would have it.
Result<int> follow_job(std::uint64_t job);

}  // namespace berth
