// schedule: the tool of that name. One task runs in the foreground as soon as enough GPUs are free;
// calls of all users of a machine share them.
#include <fmt/format.h>

#include <vector>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/compat/schedule_command_line.h"
#include "cli/compat/schedule_gpus.h"
#include "cli/compat/schedule_state.h"
#include "cli/compat/schedule_task.h"
#include "cli/toolkit/args.h"

namespace berth {
namespace {

constexpr std::string_view kScheduleName = "schedule";

struct ScheduleCommand {
  ScheduleTask task;
  bool has_task = false;
  std::int64_t gpu_count = 1;
  std::vector<std::string> init;
  std::vector<std::string> release;
  bool status = false;
};

bool is_digits(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

Args::ListSetter numbers_into(std::vector<std::string>& list) {
  return [&list](std::span<const std::string_view> words) -> Result<void> {
    for (const std::string_view word : words) {
      if (!is_digits(word)) {
        return fail(ErrorCode::Usage, fmt::format("'{}' is not a number", word));
      }
      list.push_back(std::to_string(parse_integer(word, "").value_or(0)));
    }
    return {};
  };
}

Args schedule_args(ScheduleCommand& command) {
  Args args(
      "schedule [options] ['TASK']",
      "Runs a task, given as one quoted shell command, in the foreground as soon as enough GPUs\n"
      "are free; all users of a machine share them. The task finds its GPU in $GPU (cuda2, or\n"
      "cuda0,cuda3) and in CUDA_VISIBLE_DEVICES; the word __num__ in it becomes 3600 + 100 × the\n"
      "number of its (first) GPU. Ctrl-C warns, again sends TERM, a third time kills. The exit\n"
      "code is the task's.");
  args.positional("TASK", "the quoted task with its arguments", 0, 1,
                  [&](std::string_view word) -> Result<void> {
                    command.task.command = schedule_command_line(word);
                    command.has_task = true;
                    return {};
                  });
  args.value("-gc,--gpu_count", "N", "GPUs that the task needs at once (default: 1)",
             command.gpu_count);
  args.list("-i,--init", "TOTAL [BUSY…]",
            "for all users: there are TOTAL GPUs, and BUSY ones are not\nto be used; -i 5 3 4",
            numbers_into(command.init), is_digits);
  args.flag("-v,--verbose", command.task.verbose,
            "afterwards print the task, its outputs, start, end and time");
  const auto path_into = [](std::string& path) {
    return [&path](std::string_view word) -> Result<void> {
      path = word;
      return {};
    };
  };
  args.optional_value("-o,--out", "FILE", "standard output goes to FILE",
                      path_into(command.task.out), true);
  args.optional_value("-e,--err", "FILE", "standard error goes to FILE",
                      path_into(command.task.err), true);
  args.value("-pg,--prefered_gpu", "N", "this GPU if it is free, else another",
             command.task.preferred);
  args.value("-fg,--forced_gpu", "N", "wait until this GPU is free (0,2: one of these)",
             command.task.forced);
  args.flag("-s,--status", command.status,
            "show who has which GPU: user, GPU, task, PID, start; and\nwhich GPUs are free");
  args.list("-rg,--release_gpu", "N…",
            "use GPUs again that -i has closed; end your own schedule call\nthat has one",
            numbers_into(command.release), is_digits);
  args.abbreviate();
  args.flag("--all-visible", command.task.all_visible,
            "leave CUDA_VISIBLE_DEVICES as it is: for tasks that take\n$GPU for the number of a "
            "device among all");
  args.example("schedule 'train.py foo --bar 5' --forced_gpu 2 --verbose");
  args.example("schedule 'torchrun --master-port __num__ train.py' -gc 2 -o out.txt -e err.txt");
  args.example("schedule -i 8 6 7; schedule -s; schedule -rg 6 7");
  return args;
}

Result<void> initialize(const std::vector<std::string>& numbers) {
  ScheduleState state;
  const std::int64_t total = parse_integer(numbers.front(), "").value_or(0);
  if (total < 1 || total > kMostScheduleGpus) {
    return fail(ErrorCode::Usage,
                fmt::format("-i: the total must be from 1 to {}", kMostScheduleGpus));
  }
  state.total = static_cast<std::uint32_t>(total);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (parse_integer(numbers[i], "").value_or(total) >= total) {
      return fail(ErrorCode::Usage,
                  fmt::format("-i: there is no GPU {} among {}", numbers[i], total));
    }
    state.closed.insert(numbers[i]);
  }
  return set_schedule_state(state);
}

Result<int> execute_schedule(ScheduleCommand& command) {
  const bool manages = !command.init.empty() || !command.release.empty() || command.status;
  if (!command.has_task && !manages) {
    return fail(ErrorCode::Usage, "no task given: schedule 'train.py --lr 0.1' (--help says more)");
  }
  if (command.gpu_count < 1 || command.gpu_count > kMostScheduleGpus) {
    return fail(ErrorCode::Usage, fmt::format("-gc must be from 1 to {}", kMostScheduleGpus));
  }
  command.task.gpus = static_cast<std::uint32_t>(command.gpu_count);
  if (!command.init.empty()) {
    if (const Result<void> done = initialize(command.init); !done) {
      return Failure(done.error());
    }
  }
  if (!command.release.empty()) {
    if (const Result<void> done = release_schedule_gpus(command.release); !done) {
      return Failure(done.error());
    }
  }
  if (command.status) {
    if (const Result<void> shown = print_schedule_status(); !shown) {
      return Failure(shown.error());
    }
  }
  return command.has_task ? run_schedule_task(command.task) : Result<int>(0);
}

}  // namespace

int schedule_main(Words words) {
  ScheduleCommand command;
  const Result<bool> parsed = schedule_args(command).parse(words);
  if (!parsed) {
    return report(kScheduleName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> code = execute_schedule(command);
  return code ? *code : report(kScheduleName, code.error());
}

}  // namespace berth
