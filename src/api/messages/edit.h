// POST /v1/jobs/edit: changes to waiting jobs. The answer is a CommandReply.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "core/description.h"

namespace berth {

/// Absent fields stay as they are. The daemon checks the values.
struct EditRequest {
  std::optional<std::string> name;
  std::optional<std::string> command;
  std::optional<std::int64_t> priority;
  std::optional<std::int64_t> weight;
  std::optional<std::int64_t> gpus_needed;
  std::optional<Bytes> mem;
  std::optional<ClaimSource> claim;
  std::optional<std::int64_t> share;
  std::optional<bool> mps;
  std::optional<std::int64_t> thread_percentage;
  std::optional<std::string> model;
  std::optional<std::vector<std::string>> only;
  std::optional<std::vector<std::string>> exclude;
  std::optional<std::vector<std::string>> prefer;
  std::optional<Duration> timeout;
  std::optional<Duration> expected;
  std::optional<Time> begin;
  std::optional<std::int64_t> retries;
  std::optional<Duration> backoff;
  std::optional<std::vector<std::string>> retry_on;
  std::optional<Duration> warning_before;
  std::optional<std::string> on;  // local, auto or a cluster's name

  bool operator==(const EditRequest&) const = default;
};
std::string to_json(const EditRequest& request);

/// What an edit says, read once for however many jobs it is for.
class JobEdit {
 public:
  /// An error names the field that is wrong for any job.
  static Result<JobEdit> parse(std::string_view json);
  /// An error names the field that is wrong for this one.
  Result<void> apply(JobDescription& job) const;

 private:
  struct Fields;
  std::shared_ptr<const Fields> fields_;
};

}  // namespace berth
