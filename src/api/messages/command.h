// The results of commands on jobs (kill, hold, release, pause, resume, rerun, edit, signal, forget)
// and of waiting for jobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

/// POST /v1/jobs/kill and the like.
struct CommandReply {
  std::uint64_t done = 0;  // number of jobs
  std::uint64_t refused = 0;
  std::vector<std::string> reasons;  // for the first refused jobs
};
std::string to_json(const CommandReply& reply);
Result<CommandReply> parse_command_reply(std::string_view json);

/// POST /v1/jobs/forget.
struct ForgetReply {
  std::uint64_t forgotten = 0;
  bool more = false;  // there are more jobs: ask again
};
std::string to_json(const ForgetReply& reply);
Result<ForgetReply> parse_forget_reply(std::string_view json);

/// GET /v1/wait.
struct WaitReply {
  std::uint64_t failed = 0;  // how many of the chosen jobs did not succeed
};
std::string to_json(const WaitReply& reply);
Result<WaitReply> parse_wait_reply(std::string_view json);

}  // namespace berth
