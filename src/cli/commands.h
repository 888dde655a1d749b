// The subcommands of berth. Each parses its own words and returns the process exit code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

using Words = std::span<const std::string_view>;

int run_main(Words words);
int gpus_main(Words words);
int simjob_main(Words words);
/// Sets what simulated devices report; for tests and for playing with faults.
int simset_main(Words words);

/// Runs these job lines as `berth run` with the given options would.
int run_jobs(std::vector<std::string> lines, Words run_words);

/// The same program under the names of the tools it replaces.
int simple_gpu_scheduler_main(Words words);

/// Prints "berth COMMAND: message" on stderr; returns the exit code that belongs to it.
int report(std::string_view command, const Error& error);

}  // namespace berth
