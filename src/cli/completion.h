// Completion of values: what could stand where a command takes jobs, a policy and the like.
#pragma once

#include <string>
#include <string_view>

namespace berth {

/// One candidate per line, some with a tab and a few words after it. `option` is the word before,
/// which may or may not be an option. Empty when the shell knows better, as it does about files.
std::string complete_value(std::string_view command, std::string_view option);

}  // namespace berth
