// The data for charts: sums since a given time, which job had which devices when, and how a job
// used them. Times are seconds since 1970.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"

namespace berth {

/// GET /v1/totals.
struct TotalsReply {
  double gpu_seconds = 0;
  double energy = 0;                           // joules, as far as the devices report them
  std::uint64_t started = 0;                   // attempts
  std::map<std::string, std::uint64_t> ended;  // jobs, by how they ended
};
std::string to_json(const TotalsReply& reply);
Result<TotalsReply> parse_totals_reply(std::string_view json);

/// GET /v1/timeline.
struct TimelineReply {
  struct Span {
    JobId job;
    std::uint32_t attempt = 0;
    std::string name;
    std::string project;  // empty: none
    std::string sweep;    // likewise
    uid_t user = 0;
    std::vector<std::string> gpus;  // empty: a job without GPUs
    double from = 0;
    std::optional<double> to;  // of a running or expected job: the expected end, if known
    std::string state;         // "expected", or a job's state
  };
  double now = 0;
  bool truncated = false;  // there are more spans than were asked for
  std::vector<Span> spans;
};
std::string to_json(const TimelineReply& reply);
Result<TimelineReply> parse_timeline_reply(std::string_view json);

/// GET /v1/jobs/{id}/usage: one value for each of the times.
struct UsageReply {
  struct Device {
    std::string name;
    std::vector<Bytes> memory;                       // of the job
    std::vector<std::optional<double>> utilization;  // of the whole device, if it reports it
  };
  std::uint16_t attempt = 0;  // 0: none has begun
  std::vector<double> times;
  std::vector<Device> devices;
};
std::string to_json(const UsageReply& reply);
Result<UsageReply> parse_usage_reply(std::string_view json);

}  // namespace berth
