// ChaosSubmissions: what a chaos round asks of the daemon, and what the daemon has acknowledged.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/selftest/chaos_ledger.h"
#include "cli/selftest/chaos_plan.h"

namespace berth {

class ChaosSubmissions {
 public:
  /// `program` is this program, which the jobs run; `jobs` are all that will be submitted, by
  /// number.
  ChaosSubmissions(std::string home, std::string program, std::vector<ChaosJob> jobs)
      : home_(std::move(home)), program_(std::move(program)), jobs_(std::move(jobs)) {}

  /// Submits again until the daemon has acknowledged it; the token keeps it from being queued
  /// twice.
  Result<void> submit(const std::vector<ChaosJob>& batch, const std::string& token);
  /// The same while shims are killed. What a job was to succeed after may have been lost with its
  /// shim meanwhile; the job then follows that one however it has ended.
  Result<void> submit_or_settle(std::vector<ChaosJob> batch, const std::string& token);

  /// The file that attempts write to.
  std::string ledger() const { return home_ + "/ledger"; }
  /// How often a submission was not acknowledged and was sent again.
  std::uint32_t repeated() const { return repeated_; }
  /// Submissions that were acknowledged wrongly.
  const std::vector<Finding>& findings() const { return findings_; }
  /// What of the records and the ledger does not agree with what was submitted.
  std::vector<Finding> check(const std::vector<JobOnRecord>& records,
                             const std::vector<LedgerLine>& lines,
                             const OrphanedAttempts& orphaned) const {
    return check_chaos(jobs_, acknowledged_, records, lines, orphaned);
  }

 private:
  std::string home_;
  std::string program_;
  std::vector<ChaosJob> jobs_;
  std::map<std::uint32_t, std::uint64_t> acknowledged_;  // ids by number
  std::uint32_t repeated_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace berth
