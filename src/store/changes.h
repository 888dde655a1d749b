// Changes: everything that can be written to the store, as values. They are kept until they are
// durable, because SQLite forgets a whole transaction when its commit fails.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "store/records.h"

namespace berth {

/// `count` jobs with consecutive ids and array indices.
struct InsertJobs {
  JobId first;
  std::uint32_t count = 1;
  Time submitted{};
  std::unique_ptr<const JobDescription> description;  // apart, to keep other changes small
  std::shared_ptr<const std::string> environment;  // its environment, encoded; many jobs share one
};
struct RememberToken {
  uid_t user = 0;
  std::string token;
  Submission submission;
};
struct SetWaiting {
  JobId job;
  bool held = false;
  Time not_before{};
};
struct Amend {
  JobId job;
  JobSpec spec;
  std::string name;
  std::string command;
};
struct SetSetting {
  std::string name;
  std::string value;
};
struct BeginAttempt {
  StoredAttempt attempt;
};
struct StartAttempt {
  JobId job;
  std::uint16_t attempt = 0;
  pid_t pid = 0;
  Time started{};
};
struct SetStopping {
  JobId job;
  Stopping why = Stopping::No;
};
/// The present claim of a waiting job, besides the claim it was submitted with.
struct SetClaim {
  JobId job;
  Bytes memory;  // 0: the job is to have its devices alone
  std::uint8_t memory_retries = 0;
};
/// For jobs with consecutive numbers. A separate change, so that the redo log of a berth that knew
/// no weights can still be read.
struct SetWeight {
  JobId first;
  std::uint32_t count = 1;
  std::uint16_t weight = 1;
};
struct EndAttempt {
  JobId job;
  std::uint16_t attempt = 0;
  Ending ending;
};
struct EndJob {
  JobId job;
  Ending ending;
};
struct ForgetJobs {
  std::vector<JobId> jobs;
};
/// From the redo log of a berth before version 8. Such an entry can no longer be read: a step at
/// the same time stands for it.
struct AppendOldInput {
  Time time;
  std::string input;
};
struct AppendInput {
  Time time;
  std::string input;  // see encode_input()
};
struct ForgetInputs {
  std::uint64_t before = 0;
};
/// Reserves numbers for jobs that are not visible yet; see staged.h.
struct StageJobs {
  JobId first;
  std::uint64_t count = 0;
};
/// All jobs staged from `first` on have been written.
struct CompleteStaged {
  JobId first;
};
/// The first `count` jobs staged from `first` on are ordinary jobs from here on.
struct ShowStaged {
  JobId first;
  std::uint64_t count = 0;
  std::uint64_t held = 0;  // of these; the others are queued
};
/// The first `count` jobs staged from `first` on are gone.
struct DropStaged {
  JobId first;
  std::uint64_t count = 0;
};

using Change = std::variant<InsertJobs, RememberToken, SetWaiting, Amend, SetSetting, BeginAttempt,
                            StartAttempt, SetStopping, EndAttempt, EndJob, ForgetJobs,
                            AppendOldInput, ForgetInputs, SetClaim, SetWeight, StageJobs,
                            CompleteStaged, ShowStaged, DropStaged, AppendInput>;

}  // namespace berth
