// GET /v1/status, which is also the answer to pause, resume, stop and a change of the policy; the
// available policies; and the routes.
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

/// What a user has of the daemon, and the most that the user may have.
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
  // For users that have a limit: their jobs that have not ended.
  std::optional<std::uint64_t> jobs;
  std::optional<std::uint64_t> most_jobs;
  std::optional<std::uint64_t> job_bytes;
  std::optional<std::uint64_t> most_job_bytes;
};

/// How the daemon itself is doing. While one of its turns lasts, no other client is served.
struct LoadReport {
  double longest_turn = 0;  // seconds, since the daemon started
  std::string longest_turn_did;
  double longest_turn_ended = 0;
  double longest_turn_lately = 0;  // of the last minute
  std::uint64_t slow_turns = 0;    // turns of a second or more
  std::uint64_t memory_bytes = 0;
  std::vector<UserLoad> users;           // only the client's, except for the daemon's user and root
  std::optional<GoodsReport> strangers;  // clients without a token; for the same two
};

struct StatusReply {
  pid_t pid = 0;
  std::string policy;
  std::string policy_trouble;  // why priority decides instead of the policy that was chosen
  std::string shadow;          // the policy that decides on paper; empty: none
  std::string shadow_report;   // what it would have saved on the last day; empty: not known yet
  std::string placement;
  double oom_risk = 0;  // how often a job may use more than its learned claim
  std::string owners;   // what policies are fair between: "project" or "user"
  bool paused = false;
  std::uint64_t gpus = 0;  // how many
  std::string listen;      // HOST:PORT; empty: not over TCP
  std::string home;
  uid_t uid = 0;  // the client's
  std::string user;
  std::string version_text;
  double started = 0;
  std::string hostname;
  std::vector<std::string> clusters;          // by name, to which the client may send jobs
  std::map<std::string, std::uint64_t> jobs;  // number of jobs in each state
  LoadReport load;
};
std::string to_json(const StatusReply& reply);
Result<StatusReply> parse_status_reply(std::string_view json);

/// GET /v1/policies.
struct PoliciesReply {
  struct Entry {
    std::string name;
    std::string about;
    bool live = false;  // the daemon can use it; the others preempt
  };
  std::vector<Entry> policies;
  std::vector<std::string> placements;
};
std::string to_json(const PoliciesReply& reply);
Result<PoliciesReply> parse_policies_reply(std::string_view json);

/// GET /v1: the available requests.
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
