// OutputCheck: the jobs of one submission write to different files. Jobs that share a file would
// mix their output beyond repair, so a submission that asks for that is refused.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

#include "base/result.h"
#include "core/submitted_job.h"

namespace berth {

class OutputCheck {
 public:
  /// Call it for each job of the submission.
  Result<void> add(const SubmittedJob& job);

 private:
  Result<void> add_path(const std::string& pattern, const SubmittedJob& job);

  std::unordered_set<std::size_t> paths_;  // hashes: a hundred thousand paths may be long
};

}  // namespace berth
