// SubmittedJob: a job as it is handed in, one of many.
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
  JobDescription description;  // without environment: it is that of the submission
  std::uint32_t count = 1;     // an array of so many; indices count up from the description's
  std::vector<LocalDependency> follows;
};

}  // namespace berth
