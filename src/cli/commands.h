// The subcommands of berth. Each parses its own words and returns the process exit code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

struct JobLine;

using Words = std::span<const std::string_view>;

int run_main(Words words);
int sweep_main(Words words);
int batch_main(Words words);
int submit_main(Words words);
int queue_main(Words words);
int show_main(Words words);
int why_main(Words words);
int wait_main(Words words);
int kill_main(Words words);
int hold_main(Words words);
int release_main(Words words);
int pause_main(Words words);
int resume_main(Words words);
int rerun_main(Words words);
int edit_main(Words words);
int forget_main(Words words);
int logs_main(Words words);
int results_main(Words words);
int ui_main(Words words);
int daemon_main(Words words);
int gpus_main(Words words);
int cluster_main(Words words);
int recipes_main(Words words);
int record_main(Words words);
int compare_main(Words words);
int sim_main(Words words);
int whatif_main(Words words);
int train_main(Words words);
int simjob_main(Words words);
/// Sets what simulated devices report; for tests and for experiments with faults.
int simset_main(Words words);
int selftest_main(Words words);
/// One job of a self-test.
int chaosjob_main(Words words);

/// The same program under the names of the tools it replaces.
int simple_gpu_scheduler_main(Words words);
int simple_hypersearch_main(Words words);
int schedule_main(Words words);

/// Runs these jobs in the foreground as `berth run` would with the options `run_words`.
int run_jobs(std::vector<JobLine> jobs, Words run_words);

/// Prints "berth COMMAND: message" on stderr; returns the exit code for the error.
int report(std::string_view command, const Error& error);

}  // namespace berth
