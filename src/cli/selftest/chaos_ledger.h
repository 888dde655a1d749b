// The ledger of a chaos round. Each attempt appends one line when it starts and one when it is
// about to end. The ledger is checked against the planned jobs and against the daemon's records.
// Every disagreement is a finding.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/selftest/chaos_plan.h"

namespace berth {

struct LedgerLine {
  bool is_start = false;
  std::uint32_t number = 0;  // of the job, as in ChaosJob
  std::uint64_t id = 0;      // the daemon's id of the job
  std::uint16_t attempt = 0;
  std::vector<std::string> devices;
  std::int64_t pid = 0;
  std::int64_t time = 0;  // nanoseconds on a clock that all attempts share
};

/// The line with its newline. Append it with one write.
std::string to_text(const LedgerLine& line);
/// An error names the torn line.
Result<std::vector<LedgerLine>> parse_ledger(std::string_view text);

/// A job as the daemon reports it.
struct JobOnRecord {
  std::uint64_t id = 0;
  std::uint32_t number = 0;  // 0: not a job of this round
  std::string state;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::uint16_t attempt = 0;
};

struct Finding {
  enum class Kind {
    Lost,    // acknowledged, but missing, not run, or called lost while its shim lived
    Twice,   // queued or run more than once
    Wrong,   // reported or run differently from the plan
    Shared,  // two jobs had one device at the same time
    Left,    // still running
  } kind = Kind::Lost;
  std::string text;
};
inline constexpr std::size_t kFindingKinds = 5;

/// Attempts whose shims were killed, by the daemon's job id and the attempt number. Only these may
/// be lost, and with them the jobs that wait for their success.
using OrphanedAttempts = std::set<std::pair<std::uint64_t, std::uint16_t>>;

/// `acknowledged`: the id that the daemon gave for each number.
std::vector<Finding> check_chaos(const std::vector<ChaosJob>& jobs,
                                 const std::map<std::uint32_t, std::uint64_t>& acknowledged,
                                 const std::vector<JobOnRecord>& records,
                                 const std::vector<LedgerLine>& ledger,
                                 const OrphanedAttempts& orphaned = {});

}  // namespace berth
