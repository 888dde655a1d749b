#include "cli/sim/sim_options.h"

#include <fmt/format.h>

#include <cerrno>

#include "cli/sim/daemon_history.h"
#include "cli/toolkit/model_option.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/words.h"
#include "sim/generate.h"
#include "sim/machine_file.h"

namespace berth {
namespace {

constexpr std::size_t kHelpWidth = 66;
/// Of the daemon's history: what came before says little about the next weeks.
constexpr std::size_t kMostAdvised = 20'000;

Result<double> positive(std::string_view text, std::string_view what) {
  Result<double> value = parse_real(text, what);
  if (value && !(*value >= 0)) {
    return fail(ErrorCode::Usage, fmt::format("{} cannot be negative", what));
  }
  return value;
}

Result<std::pair<std::size_t, std::size_t>> parse_window(std::string_view text) {
  const std::size_t colon = text.find(':');
  const Result<std::int64_t> first = parse_integer(text.substr(0, colon), "--rows");
  const Result<std::int64_t> count = colon == std::string_view::npos
                                         ? Result<std::int64_t>(0)
                                         : parse_integer(text.substr(colon + 1), "--rows");
  if (!first || !count || *first < 0 || *count <= 0) {
    return fail(
        ErrorCode::Usage,
        fmt::format("--rows {}: write FIRST:COUNT, like 0:1000 for the first thousand", text));
  }
  return std::pair(static_cast<std::size_t>(*first), static_cast<std::size_t>(*count));
}

std::string_view policy_of(std::string_view name) {
  constexpr std::string_view kOracle = "oracle:";
  return name.starts_with(kOracle) ? name.substr(kOracle.size()) : name;
}

Result<void> read_trials(SimCommandOptions& options, PreparedStudy& study) {
  if (options.windows.empty()) {
    options.windows.emplace_back(0, SIZE_MAX);
  }
  TraceOptions reading = options.trace_options;
  reading.most_gpus = static_cast<std::uint32_t>(study.machine.size());
  for (const auto& [first, count] : options.windows) {
    reading.first_row = first;
    reading.rows = count;
    Result<Trace> trace = read_trace(*options.trace, reading);
    if (!trace) {
      return Failure(trace.error());
    }
    if (trace->workload.jobs.empty()) {
      return fail(ErrorCode::Usage, fmt::format("{}: no job is left{}", *options.trace,
                                                reading.user ? " of user " + *reading.user : ""));
    }
    study.first_skipped = study.skipped == 0 ? trace->first_skipped : study.first_skipped;
    study.skipped += trace->skipped;
    for (std::int64_t i = 0; i < options.seeds; ++i) {
      study.trials.push_back({trace->workload, static_cast<std::uint64_t>(options.seed + i)});
    }
  }
  return {};
}

/// The jobs that came last.
void keep_last(Workload& workload, std::size_t most) {
  if (workload.jobs.size() > most) {
    const auto first = static_cast<std::ptrdiff_t>(workload.jobs.size() - most);
    workload.jobs.erase(workload.jobs.begin(), workload.jobs.begin() + first);
    if (!workload.names.empty()) {
      workload.names.erase(workload.names.begin(), workload.names.begin() + first);
    }
  }
}

Result<void> add_history_trials(SimCommandOptions& options, PreparedStudy& study) {
  Result<DaemonJobs> jobs = read_daemon_jobs(false, study.machine);
  if (!jobs) {
    return Failure(jobs.error());
  }
  study.in_use = jobs->policy;
  if (options.advise) {
    keep_last(jobs->workload, kMostAdvised);
    options.study.sim.placement = jobs->placement;
    options.study.sim.buffer = DeviceTable::Limits{}.buffer;  // as the daemon keeps it free
    if (options.placements.empty()) {
      options.placements = {jobs->placement};
    }
  }
  for (std::int64_t i = 0; i < options.seeds; ++i) {
    study.trials.push_back({jobs->workload, static_cast<std::uint64_t>(options.seed + i)});
  }
  return {};
}

Result<void> generate_trials(const SimCommandOptions& options, PreparedStudy& study) {
  for (std::int64_t i = 0; i < options.seeds; ++i) {
    const auto seed = static_cast<std::uint64_t>(options.seed + i);
    Result<Workload> workload = generate(*options.generate, study.machine, seed);
    if (!workload) {
      return Failure(workload.error());
    }
    study.trials.push_back({std::move(*workload), seed});
  }
  return {};
}

}  // namespace

void SimCommandOptions::declare_workload(Args& args) {
  args.value("--trace", "FILE",
             "jobs from a CSV file with the columns submit_s, duration_s, gpus\n"
             "(and user, gpu_milli, …), or from an .swf file; also gzipped",
             trace);
  args.value("--generate", "KIND",
             "generated jobs: mix, poisson, bursty or lublin, with settings\n"
             "like poisson:n=10000,load=0.8,mean=1h",
             generate);
  args.flag("--history", history,
            "the jobs that this user's daemon has run, on its own devices\n"
            "unless --gpus names others");
  args.flag("--advise", advise,
            "say which policy would have served these jobs best, and how sure\n"
            "that is; with --policy, among these: the first is the one in use");
  args.value("--gpus", "SPEC",
             "24 GPUs, 3x8 (machines × GPUs), 3x8x24GiB, several kinds with\n"
             "models and speeds: 2x8x80GiB:a100+4x4:t4@0.4, or a file .csv with\n"
             "the columns count, model, memory, speed, idle_w, full_w, machine",
             gpus);
  args.value("--user", "NAME", "only the jobs of this user", trace_options.user);
  args.value("--rows", "FIRST:COUNT,…",
             "only these rows of the trace; several windows are run apart, and\n"
             "their means are told",
             [this](std::string_view text) -> Result<void> {
               for (const std::string_view part : split(text, ',')) {
                 const auto window = parse_window(part);
                 if (!window) {
                   return Failure(window.error());
                 }
                 windows.push_back(*window);
               }
               return {};
             });
  args.flag("--skip-bad", trace_options.skip_bad,
            "skip rows that make no sense or ask for too many GPUs");
}

void SimCommandOptions::declare_study(Args& args) {
  args.value("--policy", "NAME,…",
             wrap_words(fmt::format("{}; sjf+easy, f1+easy and so on backfill in that order; "
                                    "oracle:NAME is told the true lengths",
                                    fmt::join(policy_names(), ", ")),
                        kHelpWidth),
             [this](std::string_view text) -> Result<void> {
               for (const std::string_view name : split(text, ',')) {
                 const std::string_view plain = policy_of(name);
                 const Result<std::string> packed = pack_policy(std::string(plain));
                 if (!packed) {
                   return Failure(packed.error());
                 }
                 if (const auto policy = make_policy(*packed); !policy) {
                   return Failure(policy.error());
                 }
                 policies.push_back(
                     fmt::format("{}{}", name.substr(0, name.size() - plain.size()), *packed));
               }
               return {};
             });
  args.value("--placement", "NAME,…",
             fmt::format("where: {} (default: idle)", fmt::join(placement_names(), ", ")),
             [this](std::string_view text) -> Result<void> {
               for (const std::string_view name : split(text, ',')) {
                 const Result<Placement> placement = parse_placement(name);
                 if (!placement) {
                   return Failure(placement.error());
                 }
                 placements.push_back(*placement);
               }
               return {};
             });
  args.value("--seed", "N", "the first seed (default: 1)", seed);
  args.value("--seeds", "N", "run everything with this many seeds, with confidence intervals",
             seeds);
  args.value("--estimate-error", "E",
             "policies see lengths that are wrong by a factor of e^(E × normal)",
             [this](std::string_view text) -> Result<void> {
               const Result<double> value = positive(text, "--estimate-error");
               if (!value) {
                 return Failure(value.error());
               }
               study.estimate_error = *value;
               return {};
             });
  args.value("--estimates", "WHICH",
             "whose length policies are told: all (the true length where the\n"
             "trace states none; the default), stated (by the trace only), none",
             [this](std::string_view text) -> Result<void> {
               if (text != "all" && text != "stated" && text != "none") {
                 return fail(ErrorCode::Usage, "--estimates: choose all, stated or none");
               }
               study.estimated = text == "all"      ? Estimated::All
                                 : text == "stated" ? Estimated::Stated
                                                    : Estimated::None;
               return {};
             });
  args.value("--preemption-cost", "TIME", "work that a job loses each time it is preempted",
             study.sim.preemption_cost);
  args.value("--slice", "TIME", "rr: how long a turn is (default: 10m)", study.policy.slice);
  args.value("--patience", "TIME",
             "las: how long a job waits until devices are freed for it (default: 14d)",
             study.policy.las_patience);
  args.value("--half-life", "TIME", "fair, drf: after which use counts half (default: 1d)",
             study.policy.half_life);
  args.value("--power-budget", "WATTS", "energy: what all devices may draw together",
             [this](std::string_view text) -> Result<void> {
               const Result<double> value = positive(text, "--power-budget");
               if (!value) {
                 return Failure(value.error());
               }
               study.policy.power_budget = *value;
               return {};
             });
  args.value("--sharing", "MODEL",
             "none: jobs that share a device do not slow each other down (the\n"
             "default); timeslice: n of them run at 1/n of the speed",
             [this](std::string_view text) -> Result<void> {
               if (text != "none" && text != "timeslice") {
                 return fail(ErrorCode::Usage, "--sharing: choose none or timeslice");
               }
               study.sim.sharing = text == "none" ? undisturbed : time_sliced;
               return {};
             });
  args.value("--failures", "TIME",
             "each device fails about once in this time; its jobs begin again",
             study.sim.faults.between);
  args.value("--repair", "TIME", "how long a device is gone then (default: 1h)",
             study.sim.faults.repair);
  args.flag("--one-by-one", study.sim.one_by_one,
            "decide after each of the things that happen at one moment,\n"
            "arrivals first, and not once for all");
  args.value("--threads", "N", "runs at once (default: one per core)", threads);
  args.value("--jobs", "FILE", "write what became of each job as CSV", jobs_file);
  args.value("--report", "FILE.html", "write one page with all figures and charts", report_file);
  args.value("--gantt", "FILE",
             "draw who ran where, as .svg or .png; with several policies each\n"
             "has a file, with its name before the ending",
             [this](std::string_view path) -> Result<void> {
               if (!path.ends_with(".svg") && !path.ends_with(".png")) {
                 return fail(ErrorCode::Usage, "name a file that ends in .svg or .png");
               }
               gantt_file = path;
               return {};
             });
  args.flag("--json", json, "print JSON");
  args.flag("--spans", spans, "with --json: also where and when each job ran, in the first run");
}

Result<void> prepare_machine(const SimCommandOptions& options, PreparedStudy& study) {
  Result<Machine> machine = options.gpus.ends_with(".csv") ? read_machine_file(options.gpus)
                                                           : parse_machine(options.gpus);
  if (!machine) {
    return Failure(machine.error());
  }
  study.machine = std::move(*machine);
  return {};
}

Result<void> prepare_contenders(SimCommandOptions& options, PreparedStudy& study) {
  if (options.seeds < 1 || options.seeds > 10000 || options.seed < 0 || options.threads < 0) {
    return fail(ErrorCode::Usage,
                "--seeds takes 1 to 10000, --seed and --threads no negative number");
  }
  if (options.spans && !options.json) {
    return fail(ErrorCode::Usage, "--spans are for --json");
  }
  options.study.sim.timeline = options.report_file || options.gantt_file || options.spans;
  options.study.threads = static_cast<unsigned>(options.threads);
  if (options.policies.empty()) {
    options.policies = {"priority", "fifo", "sjf", "easy", "srtf"};
  }
  if (options.placements.empty()) {
    options.placements = {kUsualPlacement};
  }
  for (const std::string& policy : options.policies) {
    for (const Placement placement : options.placements) {
      study.contenders.push_back({policy, placement});
    }
  }
  return {};
}

Result<PreparedStudy> prepare_study(SimCommandOptions& options) {
  PreparedStudy study;
  if (options.trace.has_value() + options.generate.has_value() + options.history != 1) {
    return fail(ErrorCode::Usage, "give one of --trace FILE, --generate KIND and --history");
  }
  if (options.history && options.gpus.empty()) {
    study.machine = daemon_machine();
    options.gpus = "this machine";
  } else if (options.gpus.empty()) {
    return fail(ErrorCode::Usage, "--gpus is missing: say what to simulate, like --gpus 24 or 3x8");
  }
  if (study.machine.empty()) {
    if (options.history && options.gpus == "this machine") {
      return fail(ErrorCode::Usage,
                  "the daemon has no devices: say what to simulate, like --gpus 4");
    }
    if (Result<void> ready = prepare_machine(options, study); !ready) {
      return Failure(ready.error());
    }
  }
  const Result<void> made = options.trace     ? read_trials(options, study)
                            : options.history ? add_history_trials(options, study)
                                              : generate_trials(options, study);
  if (!made) {
    return Failure(made.error());
  }
  const Result<void> ready =
      options.advise ? choose_advised(options, study) : prepare_contenders(options, study);
  if (!ready) {
    return Failure(ready.error());
  }
  return study;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const File file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    return fail_errno(path, errno);
  }
  return {};
}

}  // namespace berth
