// simple_gpu_scheduler: the tool of that name. Commands from standard input, one at a time on each
// slot of --gpus.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "exec/direct_runner.h"
#include "gpu/trusted.h"
#include "run/run.h"

namespace berth {
namespace {

constexpr std::string_view kSchedulerName = "simple_gpu_scheduler";

/// What it starts is told before that, by announce(); nothing is told of how it ends.
class SchedulerReporter final : public RunObserver {
 public:
  void job_output(JobId, bool, std::string_view) override {}
  void warning(std::string_view text) override {
    fmt::print(stderr, "{}: {}\n", kSchedulerName, text);
  }
};

/// Before the command has started, so that its output cannot come first.
void announce(const Launch& launch, std::span<const DeviceId> leased, const Devices& devices) {
  std::string slots;
  for (const DeviceId device : leased) {
    slots += slots.empty() ? "" : ",";
    slots += devices.list()[device.value].spec.name;
  }
  fmt::print("Processing command `{}` on gpu {}\n", launch.command, slots);
  std::fflush(stdout);
}

/// Each word is a slot: `0,1 2,3` are two slots of two GPUs each, and an empty word is one without
/// a GPU. Only a single word is a list of slots, as in `0,1,2`.
std::vector<std::string_view> slots_of(std::span<const std::string_view> words) {
  if (words.size() != 1) {
    return {words.begin(), words.end()};
  }
  std::vector<std::string_view> slots;
  for (std::size_t begin = 0; begin <= words[0].size();) {
    const std::size_t end = std::min(words[0].find(',', begin), words[0].size());
    slots.push_back(words[0].substr(begin, end - begin));
    begin = end + 1;
  }
  return slots;
}

/// Whether CUDA may count the devices in another order than the driver, because the user says so.
/// Devices of one model are as fast as each other, and stay in the driver's order.
bool counts_otherwise(std::span<const DeviceInfo> devices) {
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  return order != nullptr && *order != '\0' && std::string_view(order) != "PCI_BUS_ID" &&
         std::any_of(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
           return device.spec.model != devices.front().spec.model;
         });
}

/// The ids mean what they mean to the user's commands. Where CUDA counts otherwise, the driver
/// cannot say which devices they are.
std::unique_ptr<Devices> open_slots(std::span<const std::string_view> slots,
                                    SchedulerReporter& reporter) {
  const Result<std::unique_ptr<Devices>> driver = open_devices("all");
  if (driver && counts_otherwise((*driver)->list())) {
    reporter.warning(
        "CUDA_DEVICE_ORDER is not PCI_BUS_ID, and the GPUs are of several models: other berth "
        "instances, which count GPUs as nvidia-smi does, are not kept off those of this call");
    return open_trusted(slots);
  }
  return open_trusted(slots, driver ? driver->get() : nullptr);
}

Result<int> schedule_commands(std::span<const std::string_view> slots) {
  SchedulerReporter reporter;
  const std::unique_ptr<Devices> devices = open_slots(slots, reporter);
  auto runner = DirectRunner::make();
  if (!runner) {
    return Failure(runner.error());
  }
  const auto locks = DeviceLocks::open({"run", "", std::string(kSchedulerName)}, devices->list());
  if (!locks) {
    return Failure(locks.error());
  }
  Result<Input> input = Input::open("-", JobReader::Separator::Newline);
  if (!input) {
    return Failure(input.error());
  }
  RunOptions options;
  options.policy = "fifo";
  options.defaults.needs.claim = ClaimSource::None;  // one command per slot, always
  options.adapt = [&](Launch& launch, std::span<const DeviceId> leased) {
    announce(launch, leased, *devices);
  };
  Run run(options, *devices, locks->get(), **runner, reporter);
  const Result<RunSummary> summary = run.execute(std::move(*input));
  return summary ? Result<int>(exit_code(*summary)) : Failure(summary.error());
}

}  // namespace

int simple_gpu_scheduler_main(Words words) {
  ::signal(SIGPIPE, SIG_IGN);  // commands are worth more than messages about them
  std::vector<std::string_view> slots;
  Args args(
      "simple_gpu_scheduler --gpus ID…",
      "Runs the commands on standard input, one per line, each on one of the GPUs. An id may be\n"
      "any text, and may be given again to run several commands on it at once. Of several words\n"
      "each is for one command at a time: --gpus 0,1 2,3 gives every command two GPUs, and ''\n"
      "none.");
  args.list("--gpus", "ID…", "the GPUs, separated by blanks or commas",
            [&](std::span<const std::string_view> given) -> Result<void> {
              slots = slots_of(given);
              return {};
            });
  args.abbreviate();
  args.example("simple_gpu_scheduler --gpus 0 1 2 < gpu_commands.txt");
  args.example("tail -f -n 0 gpu.queue | simple_gpu_scheduler --gpus 0,1,2");
  args.example("simple_gpu_scheduler --gpus 0,1 2,3 < two_gpus_each.txt");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kSchedulerName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (slots.empty()) {
    return report(kSchedulerName,
                  Error{ErrorCode::Usage, "no GPU given: say which, as in --gpus 0 1 2"});
  }
  const Result<int> code = schedule_commands(slots);
  return code ? *code : report(kSchedulerName, code.error());
}

}  // namespace berth
