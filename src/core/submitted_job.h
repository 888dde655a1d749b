// SubmittedJob: one job of a submission, as it is handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/description.h"

namespace berth {

/// An earlier job of the same submission that a job must follow.
struct LocalDependency {
  std::size_t position = 0;
  Dependency::When when = Dependency::When::Ok;
};

struct SubmittedJob {
  JobDescription description;  // without environment: the submission has it
  std::uint32_t count = 1;     // jobs in an array; indices count up from the description's
  std::vector<LocalDependency> follows;
};

}  // namespace berth
