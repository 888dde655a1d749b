// JobTable: the jobs of a store, and the tokens of their submissions. Handed out by Store, which
// says how writes gather and what they report.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/query.h"
#include "store/records.h"

namespace berth {

class Backing;

class JobTable {
 public:
  explicit JobTable(Backing& backing) : backing_(backing) {}

  // --- writing

  /// The smallest id that was never used.
  JobId next_id() const;

  /// Inserts `count` jobs with ids from `first`, which must not be below next_id(); array indices,
  /// if any, count up from the description's. The jobs begin queued or held, as the spec says.
  Result<void> insert(JobId first, std::uint32_t count, JobDescription description, Time submitted);
  /// The same with an environment that many jobs share; the description's own is ignored.
  using Environment = std::shared_ptr<const std::string>;
  static Environment share_environment(const std::vector<std::string>& variables);
  Result<void> insert(JobId first, std::uint32_t count, JobDescription description,
                      Environment environment, Time submitted);

  /// Whether insert() and amend() would refuse such a job. Call this before acting on the job.
  static Result<void> check(const JobDescription& description, const Environment& environment);

  /// The jobs of a submission can be found again by its token, until the first job is forgotten.
  Result<void> remember_token(uid_t user, std::string token, Submission submission);
  Result<std::optional<Submission>> find_token(uid_t user, std::string_view token);

  /// Makes a job held or queued: after hold, release, the end of an attempt that is tried again, or
  /// a rerun of a job that had ended.
  Result<void> set_waiting(JobId job, bool held, Time not_before);
  /// A waiting job has changed; `held` stays as submitted, and the job may start from `spec.begin`
  /// on.
  Result<void> amend(JobId job, JobSpec spec, std::string name, std::string command);
  /// A waiting job claims `memory` from here on, whatever it was submitted with; 0: it is to have
  /// its devices alone. `memory_retries` of its attempts ran out of memory.
  Result<void> set_claim(JobId job, Bytes memory, std::uint8_t memory_retries);
  Result<void> end(JobId job, Ending ending);

  /// Deletes ended jobs with their attempts; see ForgetQuery. Remove the logs after
  /// Store::commit().
  Result<Forgotten> forget(const ForgetQuery& query);

  // --- reading

  /// Every job that has not ended, by id. The store must not be used from within `visit`.
  Result<void> for_each_live(const std::function<void(const LiveJob&)>& visit);
  Result<JobRecord> record(JobId id);
  /// The job as lists have it: its environment may be long.
  Result<JobRecord> record_without_environment(JobId id);
  Result<JobPhase> phase(JobId id);
  Result<JobPage> list(const JobQuery& query);
  const PhaseCounts& counts() const;

 private:
  Backing& backing_;
};

}  // namespace berth
