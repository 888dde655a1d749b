// The subcommands of berth. Each parses its own words and returns the process exit code.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace berth {

using Words = std::span<const std::string_view>;

int gpus_main(Words words);
int simjob_main(Words words);
/// Sets what simulated devices report; for tests and for playing with faults.
int simset_main(Words words);

/// The same program under the names of the tools it replaces.

/// Prints "berth COMMAND: message" on stderr; returns the exit code that belongs to it.
int report(std::string_view command, const Error& error);

}  // namespace berth
