// What Slurm says, in words for users; and what of it means to try again. Pure.
#pragma once

#include <string>
#include <string_view>

namespace berth {

/// Why a job waits in a cluster's queue, from squeue's reason.
std::string why_pending(std::string_view reason);

/// What became of a job, from its state in Slurm: "its node failed". Empty: nothing special.
std::string end_in_words(std::string_view state);

/// Whether a job in this state is over.
bool is_over(std::string_view state);

/// Why a call failed.
enum class SlurmProblem {
  Outage,   // the cluster cannot be reached: what was asked for may have been done all the same
  Refusal,  // Slurm has understood, and will not
};
SlurmProblem problem_of(std::string_view errors);

/// The last line that says something, without the program's name and "error:". A line that names a
/// limit, such as QOSMaxSubmitJobPerUserLimit, comes first.
std::string last_complaint(std::string_view errors);

}  // namespace berth
