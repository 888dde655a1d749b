// berth sim: compares policies on a trace or a made-up workload.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <tuple>

#include "api/messages/whatif.h"
#include "cli/commands.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "rl/packed_name.h"
#include "sim/charts.h"
#include "sim/report.h"

namespace berth {
namespace {

constexpr std::string_view kSimName = "berth sim";

Args sim_args(SimCommandOptions& options) {
  Args args(
      "berth sim (--trace FILE | --generate KIND | --history) [--gpus SPEC] [options]",
      "Runs the jobs of a trace, or made-up ones, on simulated GPUs under one or several\n"
      "policies, by the same scheduler as the daemon's, and compares what comes of it.\n"
      "`berth sim convert` rewrites traces, `berth sim --journal` replays a daemon's decisions.");
  options.declare_workload(args);
  options.declare_study(args);
  args.example("berth sim --trace philly.csv.gz --gpus 512 --policy fifo,sjf,easy,srtf");
  args.example("berth sim --trace jobs.csv --user ann --gpus 3x8 --policy las --jobs out.csv");
  args.example("berth sim --generate mix:n=200 --gpus 4x24GiB --policy fifo,lottery --seeds 20");
  args.example("berth sim --history --gpus gpus.csv --policy priority,fair");
  args.example("berth sim --advise --history");
  args.example("berth sim --generate poisson:load=0.9 --gpus 8 --policy sjf --estimate-error 1");
  return args;
}

/// Tells how far the runs are, on a terminal; writes what became of the jobs, if asked.
class Watcher {
 public:
  /// With `keeps`, the first run of each contender stays for charts.
  Watcher(const PreparedStudy& study, bool keeps)
      : study_(study),
        shows_(::isatty(STDERR_FILENO) == 1),
        keeps_(keeps),
        first_runs_(study.contenders.size()) {}

  std::vector<SimRun>& first_runs() { return first_runs_; }

  Result<void> write_jobs_to(const std::string& path) {
    jobs_.reset(std::fopen(path.c_str(), "w"));
    if (jobs_ == nullptr) {
      return fail_errno(path, errno);
    }
    fmt::print(jobs_.get(),
               "policy,placement,trial,job_id,user,submit_s,start_s,end_s,wait_s,run_s,duration_s,"
               "gpus,preempted,bounded_slowdown\n");
    return {};
  }

  void operator()(std::size_t contender, std::size_t trial, const SimRun& run) {
    ++done_;
    if (shows_) {
      fmt::print(stderr, "\r{} of {} runs", done_, study_.contenders.size() * study_.trials.size());
    }
    if (jobs_ != nullptr) {
      write_jobs(study_.contenders[contender], trial, run);
    }
    if (trial == 0 && keeps_) {
      first_runs_[contender] = run;
    }
  }

  Result<void> finish(const std::string& path) {
    if (shows_) {
      fmt::print(stderr, "\r\033[K");
    }
    if (jobs_ != nullptr && (std::ferror(jobs_.get()) != 0 || std::fflush(jobs_.get()) != 0)) {
      return fail_errno(path, errno);
    }
    return {};
  }

 private:
  void write_jobs(const Contender& contender, std::size_t trial, const SimRun& run) {
    const Workload& workload = study_.trials[trial].workload;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      const SimJob& job = workload.jobs[i];
      const JobOutcome& outcome = run.outcomes[i];
      const Duration completion = outcome.ended - job.submit;
      fmt::print(jobs_.get(), "{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6g}\n",
                 policy_label(contender.policy), placement_name(contender.placement), trial,
                 workload.names.empty() ? std::to_string(i + 1) : csv_cell(workload.names[i]),
                 csv_cell(workload.owners[job.owner]), to_seconds(job.submit.time_since_epoch()),
                 to_seconds(outcome.started.time_since_epoch()),
                 to_seconds(outcome.ended.time_since_epoch()), to_seconds(completion - outcome.ran),
                 to_seconds(outcome.ran), to_seconds(job.duration), job.gpus, outcome.preempted,
                 bounded_slowdown(completion, job.duration));
    }
  }

  const PreparedStudy& study_;
  bool shows_;
  bool keeps_;
  std::vector<SimRun> first_runs_;
  std::size_t done_ = 0;
  File jobs_{nullptr, &std::fclose};
};

using Summaries = std::vector<std::vector<Summary>>;

/// One for each turn of a job, with all of its devices; times are those of the workload's origin.
std::vector<WhatifReply::Span> spans_of(const PreparedStudy& study, const SimRun& run) {
  const std::vector<std::string>& names = study.trials.front().workload.names;
  std::map<std::tuple<Time, std::uint32_t, Time>, std::vector<DeviceId>> stays;
  for (const Stay& stay : run.timeline) {
    stays[{stay.from, stay.job, stay.to}].push_back(stay.device);
  }
  std::vector<WhatifReply::Span> spans;
  for (const auto& [when, devices] : stays) {
    const auto& [from, job, to] = when;
    WhatifReply::Span& span = spans.emplace_back();
    span.job = names.empty() ? std::to_string(job + 1) : names[job];
    for (const DeviceId device : devices) {
      span.gpus.push_back(study.machine[device.value].spec.name);
    }
    span.from = study.origin + to_seconds(from.time_since_epoch());
    span.to = study.origin + to_seconds(to.time_since_epoch());
  }
  return spans;
}

std::string study_json(const PreparedStudy& study, const Summaries& summaries,
                       const std::vector<SimRun>& runs, bool spans) {
  WhatifReply reply;
  reply.gpus = study.machine.size();
  reply.skipped_rows = study.skipped;
  for (std::size_t i = 0; i < study.contenders.size(); ++i) {
    WhatifReply::Row& row = reply.results.emplace_back();
    row.policy = policy_label(study.contenders[i].policy);
    row.placement = placement_name(study.contenders[i].placement);
    row.jobs = summaries[i].front().jobs;
    row.runs = summaries[i].size();
    WhatifFigures half_widths;
    for (const Figure& figure : figures()) {
      const Estimate known = estimate(summaries[i], figure);
      row.figures.values.emplace_back(figure.name, known.mean);
      half_widths.values.emplace_back(figure.name, known.half_width);
    }
    if (row.runs > 1) {
      row.ci95 = std::move(half_widths);
    }
    if (spans) {
      row.spans = spans_of(study, runs[i]);
    }
  }
  return to_json(reply);
}

std::string time_cell(const Estimate& seconds) {
  const auto as_time = [](double value) {
    return format_duration(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(value, 9e9))));
  };
  return seconds.half_width > 0
             ? fmt::format("{} ±{}", as_time(seconds.mean), as_time(seconds.half_width))
             : as_time(seconds.mean);
}

std::string number_cell(const Estimate& number, double scale, std::string_view unit) {
  const double scaled = number.mean * scale;
  const std::string mean = std::abs(scaled) < 1000 ? fmt::format("{:.4g}{}", scaled, unit)
                                                   : fmt::format("{:.0f}{}", scaled, unit);
  return number.half_width > 0 ? fmt::format("{} ±{:.2g}", mean, number.half_width * scale) : mean;
}

void print_summary_table(const PreparedStudy& study, const Summaries& summaries, bool placements) {
  Table table;
  table.column("POLICY");
  if (placements) {
    table.column("PLACEMENT");
  }
  for (const std::string_view name :
       {"WAIT", "P99 WAIT", "COMPLETION", "SLOWDOWN", "MAKESPAN", "BUSY", "ENERGY", "PREEMPTED"}) {
    table.column(std::string(name), Align::Right);
  }
  for (std::size_t i = 0; i < study.contenders.size(); ++i) {
    const auto of = [&](double (*value)(const Summary&)) {
      return estimate(summaries[i], Figure{"", value});
    };
    std::vector<Cell> cells{std::string(policy_label(study.contenders[i].policy))};
    if (placements) {
      cells.emplace_back(placement_name(study.contenders[i].placement));
    }
    cells.emplace_back(time_cell(of([](const Summary& s) { return s.wait_s.mean; })));
    cells.emplace_back(time_cell(of([](const Summary& s) { return s.wait_s.p99; })));
    cells.emplace_back(time_cell(of([](const Summary& s) { return s.completion_s.mean; })));
    cells.emplace_back(
        number_cell(of([](const Summary& s) { return s.bounded_slowdown.mean; }), 1, ""));
    cells.emplace_back(time_cell(of([](const Summary& s) { return s.makespan_s; })));
    cells.emplace_back(number_cell(of([](const Summary& s) { return s.utilization; }), 100, " %"));
    cells.emplace_back(
        number_cell(of([](const Summary& s) { return s.energy_j; }), 1 / 3.6e6, " kWh"));
    cells.emplace_back(number_cell(
        of([](const Summary& s) { return static_cast<double>(s.preemptions); }), 1, ""));
    table.row(std::move(cells));
  }
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  fmt::print("{} jobs on {} GPUs\n{}", study.trials.front().workload.jobs.size(),
             study.machine.size(), table.render(terminal.columns, terminal.colour));
}

std::string contender_name(const PreparedStudy& study, std::size_t contender, bool placements) {
  const Contender& one = study.contenders[contender];
  const std::string_view policy = policy_label(one.policy);
  return placements ? fmt::format("{} {}", policy, placement_name(one.placement))
                    : std::string(policy);
}

/// `out.png` for one contender, `out.fifo.png` and so on for several.
Result<void> draw_gantt(const std::string& path, const PreparedStudy& study,
                        const std::vector<SimRun>& runs, bool placements) {
  const std::size_t dot = path.rfind('.');
  const std::string ending = path.substr(dot);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string name = contender_name(study, i, placements);
    const std::string picture = gantt_chart(ending == ".svg" ? make_svg_canvas : make_png_canvas,
                                            name, study.trials.front().workload, study.machine,
                                            runs[i], {runs[i].first_submit, runs[i].last_end});
    std::replace(name.begin(), name.end(), ' ', '.');
    std::replace(name.begin(), name.end(), ':', '-');
    const std::string file =
        runs.size() == 1 ? path : fmt::format("{}.{}{}", path.substr(0, dot), name, ending);
    if (Result<void> written = write_file(file, picture); !written) {
      return written;
    }
  }
  return {};
}

Result<void> draw(const SimCommandOptions& options, const PreparedStudy& study,
                  const Summaries& summaries, std::vector<SimRun>& runs) {
  const bool placements = options.placements.size() > 1;
  if (options.gantt_file) {
    if (Result<void> drawn = draw_gantt(*options.gantt_file, study, runs, placements); !drawn) {
      return drawn;
    }
  }
  if (!options.report_file) {
    return {};
  }
  std::vector<ReportedRun> reported;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    reported.push_back({contender_name(study, i, placements), summaries[i], std::move(runs[i])});
  }
  const std::string heading = fmt::format("{} on {}",
                                          options.trace      ? *options.trace
                                          : options.generate ? *options.generate
                                                             : "the daemon's jobs",
                                          options.gpus);
  return write_file(*options.report_file,
                    html_report(heading, study.trials.front().workload, study.machine, reported));
}

/// As the record counts it: jobs draw what they drew when they really ran, and a device without a
/// job draws what it does when idle.
double energy_by_record(double jobs_j, const Machine& machine, const Summary& summary) {
  double idle = 0;
  for (const SimDevice& device : machine) {
    idle += device.spec.power.idle;
  }
  return jobs_j + idle * summary.makespan_s * std::max(1 - summary.utilization, 0.0);
}

}  // namespace

Result<int> run_prepared(SimCommandOptions& options, PreparedStudy& study) {
  Watcher watcher(study, options.study.sim.timeline);
  if (options.jobs_file) {
    if (const Result<void> opened = watcher.write_jobs_to(*options.jobs_file); !opened) {
      return Failure(opened.error());
    }
  }
  Result<Summaries> summaries =
      run_study(study.contenders, study.trials, study.machine, options.study, std::ref(watcher));
  const Result<void> finished = watcher.finish(options.jobs_file.value_or(""));
  if (!summaries || !finished) {
    return Failure(!summaries ? summaries.error() : finished.error());
  }
  if (study.jobs_j > 0) {
    for (std::vector<Summary>& trials : *summaries) {
      for (Summary& summary : trials) {
        summary.energy_j = energy_by_record(study.jobs_j, study.machine, summary);
      }
    }
  }
  if (study.recorded) {
    study.contenders.insert(study.contenders.begin(), Contender{"recorded", kUsualPlacement});
    summaries->insert(summaries->begin(),
                      {summarise(study.trials.front().workload, study.machine, *study.recorded)});
    watcher.first_runs().insert(watcher.first_runs().begin(), std::move(*study.recorded));
  }
  const std::string text =
      options.json ? study_json(study, *summaries, watcher.first_runs(), options.spans) : "";
  if (const Result<void> drawn = draw(options, study, *summaries, watcher.first_runs()); !drawn) {
    return Failure(drawn.error());
  }
  if (options.json) {
    fmt::print("{}\n", text);
  } else {
    print_summary_table(study, *summaries, options.placements.size() > 1);
  }
  return 0;
}

int sim_main(Words words) {
  if (!words.empty() && words[0] == "convert") {
    return sim_convert_main(words.subspan(1));
  }
  if (!words.empty() && words[0] == "--journal") {
    return sim_journal_main(words.subspan(1));
  }
  SimCommandOptions options;
  const Result<bool> parsed = sim_args(options).parse(words);
  if (!parsed) {
    return report(kSimName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  Result<PreparedStudy> study = prepare_study(options);
  if (!study && options.advise && study.error().code == ErrorCode::Refused) {
    return advise_nothing(options, study.error());  // no job has run yet
  }
  if (!study) {
    return report(kSimName, study.error());
  }
  if (study->skipped > 0) {
    fmt::print(stderr, "{}: skipped {} rows; the first: {}\n", kSimName, study->skipped,
               study->first_skipped);
  }
  const Result<int> status =
      options.advise ? advise_prepared(options, *study) : run_prepared(options, *study);
  return status ? *status : report(kSimName, status.error());
}

}  // namespace berth
