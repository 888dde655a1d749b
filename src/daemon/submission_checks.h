// Whether jobs can be taken in, and what a submission leaves for the daemon to settle.
#pragma once

#include <string>
#include <vector>

#include "api/messages.h"
#include "daemon/desk.h"

namespace berth {

/// What can be known before the job is taken in. Settles its owner, dependencies, expected length,
/// MPS and claim.
Result<void> check_job(Desk& desk, SubmittedJob& job, uid_t user);
Result<void> check_warning(const JobSpec& spec);

/// Counts a submission towards what its user may have in the queue; an error where that is too
/// much.
Result<void> count_in(Desk& desk, const SubmitRequest& wanted, uid_t user, JobId first);

/// Jobs that it follows, told by their place in the submission, get the numbers that they have now.
void follow_earlier(std::vector<SubmittedJob>& jobs, std::size_t position,
                    const std::vector<JobId>& starts);

/// An error that names the job, where there are several.
Error wrong_job(const SubmitRequest& wanted, std::size_t position, const Error& error);

/// The environment for jobs of clients that have none of their own to give, such as the page: the
/// daemon's own (for another user a plain one), or that of a job. What the submission says goes
/// over it.
Result<void> settle_environment(Desk& desk, SubmitRequest& submission, const Peer& peer);
/// The user's home folder, or / where nobody knows it.
std::string home_of(uid_t user);

}  // namespace berth
