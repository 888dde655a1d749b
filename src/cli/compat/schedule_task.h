// One task of `schedule`: waits until the task's GPUs are free, runs the task in the foreground,
// and releases the GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

struct ScheduleTask {
  std::string command;
  std::uint32_t gpus = 1;
  std::string forced;     // ids, separated by commas; empty: any
  std::string preferred;  // the same
  std::string out;        // a file for standard output; empty: our own
  std::string err;
  bool verbose = false;
  bool all_visible = false;  // the task chooses its devices by $GPU alone
};

/// The exit code of the task, or 128 plus the signal number if a signal ended the task.
Result<int> run_schedule_task(const ScheduleTask& task);

/// `command` with each `__num__` replaced by 3600 + 100 × the GPU's number.
std::string fill_in_number(std::string_view command, std::uint32_t gpu);

}  // namespace berth
