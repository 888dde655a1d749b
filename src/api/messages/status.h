// GET /v1/status, which pause, resume, stop and a change of the policy answer with, too; the
// policies there are; and the routes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

/// What somebody has of the daemon, and the most that may be had.
struct GoodsReport {
  std::uint64_t connections = 0;
  std::uint64_t most_connections = 0;
  std::uint64_t streams = 0;  // of events
  std::uint64_t most_streams = 0;
  std::uint64_t request_bytes = 0;  // of requests that are not answered
  std::uint64_t most_request_bytes = 0;
  std::uint64_t answer_bytes = 0;  // of answers that are not read
  std::uint64_t most_answer_bytes = 0;
};

struct UserLoad {
  uid_t uid = 0;
  std::string user;
  GoodsReport goods;
  // Of users that have a limit: what of theirs has not ended.
  std::optional<std::uint64_t> jobs;
  std::optional<std::uint64_t> most_jobs;
  std::optional<std::uint64_t> job_bytes;
  std::optional<std::uint64_t> most_job_bytes;
};

/// How the daemon itself does. While one of its turns lasts, nobody else is served.
struct LoadReport {
  double longest_turn = 0;  // seconds, since the daemon started
  std::string longest_turn_did;
  double longest_turn_ended = 0;
  double longest_turn_lately = 0;  // of the last minute
  std::uint64_t slow_turns = 0;    // those of a second or more
  std::uint64_t memory_bytes = 0;
  std::vector<UserLoad> users;           // only who asks, unless that is the daemon's user or root
  std::optional<GoodsReport> strangers;  // who has shown no token; for the same two
};

struct StatusReply {
  pid_t pid = 0;
  std::string policy;
  std::string placement;
  std::string owners;  // between whom policies are fair: "project" or "user"
  bool paused = false;
  std::uint64_t gpus = 0;  // how many
  std::string listen;      // HOST:PORT; empty: not over TCP
  std::string home;
  uid_t uid = 0;  // who asks
  std::string user;
  std::string version_text;
  double started = 0;
  std::string hostname;
  std::map<std::string, std::uint64_t> jobs;  // how many are in which state
  LoadReport load;
};
std::string to_json(const StatusReply& reply);
Result<StatusReply> parse_status_reply(std::string_view json);

/// GET /v1/policies.
struct PoliciesReply {
  struct Entry {
    std::string name;
    std::string about;
    bool live = false;  // the daemon can have it; the others preempt
  };
  std::vector<Entry> policies;
  std::vector<std::string> placements;
};
std::string to_json(const PoliciesReply& reply);
Result<PoliciesReply> parse_policies_reply(std::string_view json);

/// GET /v1: what can be asked.
struct IndexReply {
  struct Entry {
    std::string method;
    std::string path;  // {id} stands for a job's number
  };
  std::vector<Entry> routes;
};
std::string to_json(const IndexReply& reply);
Result<IndexReply> parse_index_reply(std::string_view json);

}  // namespace berth
