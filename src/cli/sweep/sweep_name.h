// The name of a sweep whose user gave none.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace berth {

/// The program of the sweep's template and the local time: "train-1118-084428".
std::string usual_sweep_name(std::string_view command, std::time_t now);

}  // namespace berth
