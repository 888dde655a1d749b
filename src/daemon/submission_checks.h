// Checks whether jobs can be taken in, and settles what a submission leaves to the daemon.
#pragma once

#include <string>
#include <vector>

#include "api/messages.h"
#include "daemon/desk.h"

namespace berth {

/// Checks everything that can be known before the job is taken in. Settles its owner, dependencies,
/// expected length, MPS and claim.
Result<void> check_job(Desk& desk, SubmittedJob& job, uid_t user);
/// That no job which has not ended writes to the job's files.
Result<void> check_outputs(const Desk& desk, SubmittedJob& job, uid_t user);
Result<void> check_warning(const JobSpec& spec);
/// That the job's cluster, if it is for one, can be used and could run it.
Result<void> check_cluster(const Desk& desk, const JobSpec& spec, uid_t user);

/// Counts a submission towards what its user may have in the queue. Fails if that is too much.
Result<void> count_in(Desk& desk, const SubmitRequest& wanted, uid_t user, JobId first);

/// Adds to the job at `position` the numbers of the jobs that it follows, which the submission
/// names by their positions.
void follow_earlier(std::vector<SubmittedJob>& jobs, std::size_t position,
                    const std::vector<JobId>& starts);

/// That the jobs get another CUDA_DEVICE_ORDER than they were submitted with; empty: they do not.
std::string device_order_note(const Desk& desk, const SubmitRequest& wanted);

/// The error, with the job named if there are several.
Error wrong_job(const SubmitRequest& wanted, std::size_t position, const Error& error);

/// The environment for jobs of clients that have none of their own to give, such as the page: the
/// daemon's own (for another user a plain one), or that of a given job. Variables in the submission
/// override it.
Result<void> settle_environment(Desk& desk, SubmitRequest& submission, const Peer& peer);
/// The user's home folder, or / when unknown.
std::string home_of(uid_t user);

}  // namespace berth
