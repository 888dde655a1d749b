// Changes: everything that can be written to the store, as values. They are kept until they are
// durable, because SQLite forgets a whole transaction when its commit fails.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "store/records.h"

namespace berth {

/// `count` jobs with ids and array indices in a row.
struct InsertJobs {
  JobId first;
  std::uint32_t count = 1;
  Time submitted{};
  std::unique_ptr<const JobDescription> description;  // apart, to keep other changes small
  std::shared_ptr<const std::string> environment;     // its environment, encoded; many share one
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
/// What a waiting job claims now, beside what it was submitted with.
struct SetClaim {
  JobId job;
  Bytes memory;  // 0: it is to have its devices alone
  std::uint8_t memory_retries = 0;
};
/// Of jobs with numbers in a row. A change of its own, so that the redo log of a berth that knew no
/// weights can still be read.
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
/// In the redo log of a berth before version 8, whose entries cannot be read any more: a step at
/// that time stands for it.
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
/// Keeps numbers for jobs that nobody sees yet; see staged.h.
struct StageJobs {
  JobId first;
  std::uint64_t count = 0;
};
/// All of those are there.
struct CompleteStaged {
  JobId first;
};
/// The first of those that are staged from `first` on are jobs like others from here on.
struct ShowStaged {
  JobId first;
  std::uint64_t count = 0;
  std::uint64_t held = 0;  // of them; the others are queued
};
/// The first of those are gone.
struct DropStaged {
  JobId first;
  std::uint64_t count = 0;
};

using Change = std::variant<InsertJobs, RememberToken, SetWaiting, Amend, SetSetting, BeginAttempt,
                            StartAttempt, SetStopping, EndAttempt, EndJob, ForgetJobs,
                            AppendOldInput, ForgetInputs, SetClaim, SetWeight, StageJobs,
                            CompleteStaged, ShowStaged, DropStaged, AppendInput>;

}  // namespace berth
