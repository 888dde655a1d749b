// What commands say of a job, in a word or two each.
#pragma once

#include <string>
#include <vector>

#include "api/messages/job.h"
#include "cli/toolkit/table.h"

namespace berth {

std::string for_seconds(double seconds);
/// How long it ran, runs or waits.
std::string age_of(const JobReport& job);
/// "soon", "in 5m00s"; empty where nobody can tell.
std::string expected_start_of(const JobReport& job);
/// Its state, or "paused".
std::string state_of(const JobReport& job);
Colour colour_of(const std::string& state);
/// "0,1".
std::string joined(const std::vector<std::string>& names);
/// The name of the signal that ended it, or its exit code.
std::string exit_words(std::optional<int> exit_code, std::optional<int> signal);
/// With its project, where it has one.
std::string full_name_of(const JobReport& job);

}  // namespace berth
