// Which jobs a request means: its selectors, read with what the daemon knows at the moment.
#pragma once

#include "daemon/desk.h"
#include "store/query.h"

namespace berth {

/// The jobs that the words of `select` choose, whoever may see them.
Result<JobFilter> choose_jobs(const Desk& desk, const HttpRequest& request);

/// The jobs that a request lists, as far as its client may see them. Ended jobs are included only
/// if the request asks for all jobs, for states or for numbers.
Result<JobFilter> choose_listed_jobs(const Desk& desk, const HttpRequest& request);

}  // namespace berth
