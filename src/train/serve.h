// The environment for agents in other programs, line by line over a pipe (docs/learned-policy.md).
// The agent says `reset SEED` and then, each time it is asked, `JOB`, `JOB DEVICE` or `wait`; each
// answer is one line of JSON. `quit`, or the end of its output, ends it.
#pragma once

#include <iosfwd>

#include "train/course.h"

namespace berth {

/// Fails if there is nothing to play on; an agent that errs is told so, and asked again.
Result<void> serve_episodes(const Source& source, const CourseOptions& options, std::istream& in,
                            std::ostream& out);

}  // namespace berth
