// `berth simjob`: a program that uses simulated devices the way a training uses real ones.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "gpu/driver_devices.h"
#include "gpu/simulated/sim_job.h"
#include "gpu/visibility.h"

namespace berth {
namespace {

struct SimJobOptions {
  SimJobPlan plan;
  std::string gpus;                  // empty: the file that BERTH_SIM_STATE names
  std::vector<std::string> devices;  // empty: all that are visible
};

/// What a CUDA program would see, narrowed to what `--gpu` names.
Result<std::vector<SimPart>> choose(SimState& state, const std::vector<std::string>& wanted) {
  const std::vector<SimPart> parts = list_sim_parts(state);
  std::vector<DeviceInfo> infos;
  infos.reserve(parts.size());
  for (const SimPart& part : parts) {
    infos.push_back(part.info);
  }
  std::vector<std::size_t> chosen;
  if (const char* mask = std::getenv("CUDA_VISIBLE_DEVICES"); !wanted.empty()) {
    for (const std::string& id : wanted) {
      const std::vector<std::size_t> found = find_devices(id, infos);
      if (found.empty()) {
        return fail(ErrorCode::NotFound,
                    fmt::format("no simulated device '{}' in {}", id, state.path()));
      }
      chosen.insert(chosen.end(), found.begin(), found.end());
    }
  } else if (mask != nullptr) {
    chosen = apply_mask(mask, infos);
  } else {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      chosen.push_back(i);
    }
  }
  return gather(parts, chosen);
}

Args::Setter bounded(int& out, std::int64_t most) {
  return [&out, most](std::string_view text) -> Result<void> {
    const Result<std::int64_t> number = parse_integer(text, "the value");
    if (!number || *number < 0 || *number > most) {
      return fail(ErrorCode::Usage, fmt::format("must be 0 to {}, not '{}'", most, text));
    }
    out = static_cast<int>(*number);
    return {};
  };
}

/// A time that can be added to the clock without care.
Args::Setter moment(const std::function<void(Duration)>& set) {
  return [set](std::string_view text) -> Result<void> {
    const Result<Duration> length = parse_duration(text);
    if (!length) {
      return Failure(length.error());
    }
    constexpr Duration kLongest = std::chrono::hours(24 * 365);
    set(std::min(*length, kLongest));
    return {};
  };
}

Result<bool> parse_options(Words words, SimJobOptions& options) {
  SimJobPlan& plan = options.plan;
  int watts = static_cast<int>(plan.watts);
  Args args("berth simjob [options]",
            "Takes memory on simulated devices, holds it and ends, as a training would: with its\n"
            "words and exit code 1 when the memory runs out. Uses all that CUDA_VISIBLE_DEVICES\n"
            "shows.");
  args.value("--mem", "SIZE", "memory to take on every device (default: 1GiB)", plan.memory);
  args.value("--ramp", "TIME", "take it in steps over this time",
             moment([&](Duration length) { plan.ramp = length; }));
  args.value("--hold", "TIME", "then keep it this long (default: 1s)",
             moment([&](Duration length) { plan.hold = length; }));
  args.value("--util", "PERCENT", "utilisation meanwhile (default: 100)",
             bounded(plan.utilization, 100));
  args.flag("--contend", plan.contends,
            "take longer than --hold while jobs want more than 100 % of a device");
  args.value("--power", "WATTS", "power drawn meanwhile (default: 200)", bounded(watts, 100'000));
  args.value("--fail-at", "TIME", "fail at this time after the start",
             moment([&](Duration length) { plan.fail_at = length; }));
  args.value("--exit", "CODE", "exit code of a good end (default: 0)",
             bounded(plan.exit_code, 255));
  args.flag("--mps", plan.via_mps, "be listed as a client of MPS");
  args.value("--gpus", "sim:N", "which simulated devices, outside of a job", options.gpus);
  args.list("--gpu", "ID…", "use these only", [&](std::span<const std::string_view> ids) {
    options.devices.insert(options.devices.end(), ids.begin(), ids.end());
    return Result<void>();
  });
  args.example("berth run --gpus sim:2 <<< 'berth simjob --mem 6GiB --ramp 2s --hold 5s'");
  Result<bool> parsed = args.parse(words);
  plan.watts = watts;
  return parsed;
}

}  // namespace

int simjob_main(Words words) {
  SimJobOptions options;
  const Result<bool> parsed = parse_options(words, options);
  if (!parsed) {
    return report("berth simjob", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::unique_ptr<SimState>> state = open_sim_state(options.gpus);
  if (!state) {
    return report("berth simjob", state.error());
  }
  const Result<std::vector<SimPart>> visible = choose(**state, options.devices);
  if (!visible) {
    return report("berth simjob", visible.error());
  }
  return run_sim_job(**state, *visible, options.plan);
}

}  // namespace berth
