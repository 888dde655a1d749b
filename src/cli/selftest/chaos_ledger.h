// The ledger of a chaos round: one line that each attempt itself appends when it starts and one
// when it is about to end. It is held against what was asked for and against what the daemon has
// on record; whatever does not agree is a finding.
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
  std::uint32_t number = 0;  // of the job, as ChaosJob has it
  std::uint64_t id = 0;      // as the daemon has it
  std::uint16_t attempt = 0;
  std::vector<std::string> devices;
  std::int64_t pid = 0;
  std::int64_t time = 0;  // nanoseconds on a clock that all attempts share
};

/// With its newline; to be appended by one write.
std::string to_text(const LedgerLine& line);
/// An error names the line that nobody could have written whole.
Result<std::vector<LedgerLine>> parse_ledger(std::string_view text);

/// A job as the daemon reports it.
struct JobOnRecord {
  std::uint64_t id = 0;
  std::uint32_t number = 0;  // 0: none of ours
  std::string state;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::uint16_t attempt = 0;
};

struct Finding {
  enum class Kind {
    Lost,    // acknowledged, but not there, or not run, or called lost while its shim lived
    Twice,   // queued or run more than once
    Wrong,   // reported or run otherwise than it was
    Shared,  // two jobs had one device at once
    Left,    // still running
  } kind = Kind::Lost;
  std::string text;
};
inline constexpr std::size_t kFindingKinds = 5;

/// Attempts, by the daemon's id and their number, whose shims were killed. Only they may be lost,
/// and with them what waits for their success.
using OrphanedAttempts = std::set<std::pair<std::uint64_t, std::uint16_t>>;

/// `acknowledged`: the id that the daemon gave for each number.
std::vector<Finding> check_chaos(const std::vector<ChaosJob>& jobs,
                                 const std::map<std::uint32_t, std::uint64_t>& acknowledged,
                                 const std::vector<JobOnRecord>& records,
                                 const std::vector<LedgerLine>& ledger,
                                 const OrphanedAttempts& orphaned = {});

}  // namespace berth
