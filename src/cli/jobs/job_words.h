// Short texts about a job, for the output of commands.
#pragma once

#include <string>
#include <vector>

#include "api/messages/job.h"
#include "cli/toolkit/table.h"

namespace berth {

std::string for_seconds(double seconds);
/// How long the job ran, has been running or has been waiting.
std::string age_of(const JobReport& job);
/// "14:10–14:40 (90 %)" where it is known how far the forecast can be trusted; else "soon" or
/// "in 5m00s"; empty when unknown.
std::string expected_start_of(const JobReport& job);
/// What the policy promises a waiting job, as a sentence; empty when it promises nothing.
std::string promise_of(const JobReport& job);
/// What a waiting job gets because its memory is not known yet, as a sentence; empty when it is.
std::string unknown_memory_of(const JobReport& job);
/// The job's state, or "paused".
std::string state_of(const JobReport& job);
Colour colour_of(const std::string& state);
/// "0,1".
std::string joined(const std::vector<std::string>& names);
/// The name of the signal that ended the job, or its exit code.
std::string exit_words(std::optional<int> exit_code, std::optional<int> signal);
/// The user whose job it is, by name where that is known.
std::string user_of(const JobReport& job);
/// The job's name, with its project if it has one.
std::string full_name_of(const JobReport& job);

}  // namespace berth
