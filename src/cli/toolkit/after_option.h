// --after: the jobs that a job follows, by number, submission or name.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/job_spec.h"

namespace berth {

/// Reads "ok:12,any:prep,@": a job without a word before it must end well. A name means the jobs of
/// that name that have not ended or, if all have, the newest of them. The daemon is asked about
/// everything but plain numbers.
Result<std::vector<Dependency>> read_after(std::string_view text);

}  // namespace berth
