// berth train: makes a model for the learned policy.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ext/stdio_filebuf.h>
#include <istream>
#include <ostream>

#include "base/read_file.h"
#include "cli/commands.h"
#include "cli/sim/daemon_history.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/words.h"
#include "cli/train/train_report.h"
#include "policy/policies.h"
#include "rl/model_file.h"
#include "train/serve.h"
#include "train/trainer.h"

namespace berth {
namespace {

constexpr std::string_view kTrainName = "berth train";
constexpr std::uint64_t kTestSeed = 1'000'000'000;  // generated tests are far from all lessons

struct TrainOptions {
  std::vector<Source> sources;
  std::vector<Source> tests;
  CourseOptions course;
  TrainPlan plan;
  std::string out;
  std::string curve;
  bool history = false;  // train on the daemon's own jobs
  bool resume = false;
  bool serve = false;  // episodes for an agent at the other end of a pipe
  bool json = false;
};

Result<std::vector<std::pair<std::size_t, std::size_t>>> parse_rows(std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> rows;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    const Result<std::int64_t> first = parse_integer(part.substr(0, colon), "rows");
    const Result<std::int64_t> count =
        parse_integer(colon == std::string_view::npos ? "" : part.substr(colon + 1), "rows");
    if (!first || !count || *first < 0 || *count <= 0) {
      return fail(ErrorCode::Usage, fmt::format("{}: write FIRST:COUNT, like 0:1000", part));
    }
    rows.emplace_back(static_cast<std::size_t>(*first), static_cast<std::size_t>(*count));
  }
  return rows;
}

Args::Setter whole(std::size_t& out, std::string name, std::int64_t least = 1) {
  return [&out, name, least](std::string_view text) -> Result<void> {
    const Result<std::int64_t> value = parse_integer(text, name);
    if (!value || *value < least) {
      return fail(ErrorCode::Usage, fmt::format("{} must be a number from {} on", name, least));
    }
    out = static_cast<std::size_t>(*value);
    return {};
  };
}

/// Options of a workload go to the one named last.
Args::Setter of_last(TrainOptions& options, std::string name,
                     std::function<Result<void>(Source&, std::string_view)> set) {
  return [&options, name, set](std::string_view text) -> Result<void> {
    return options.sources.empty()
               ? fail(ErrorCode::Usage, fmt::format("{} comes after a --workload", name))
               : set(options.sources.back(), text);
  };
}

Args train_args(TrainOptions& options) {
  Args args(
      "berth train (--workload TRACE|GENERATOR --gpus SPEC | --from-history) --out MODEL [options]",
      "Trains a model for policy rl:MODEL in the simulator, on windows of a trace or on\n"
      "generated jobs, and tells how it does on windows that it was not trained on. Several\n"
      "workloads may be named; --gpus, --rows and so on belong to the one before them.");
  args.value("--workload", "WHAT", "a trace, or generated jobs, as for berth sim",
             [&](std::string_view text) -> Result<void> {
               options.sources.emplace_back().workload = text;
               return {};
             });
  args.flag("--from-history", options.history,
            "train on the jobs that this user's daemon has run, on its devices,\n"
            "and test on the last fifth of them beside the daemon's policy");
  args.value("--gpus", "SPEC", "the machine: 24, 3x8, 3x8x24GiB, …",
             of_last(options, "--gpus", [](Source& source, std::string_view text) -> Result<void> {
               source.gpus = text;
               return {};
             }));
  args.value("--rows", "FIRST:COUNT,…", "train only on these rows of the trace",
             of_last(options, "--rows", [](Source& source, std::string_view text) -> Result<void> {
               const auto rows = parse_rows(text);
               source.rows = rows ? *rows : decltype(source.rows){};
               return rows ? Result<void>{} : Failure(rows.error());
             }));
  args.value(
      "--test-rows", "FIRST:COUNT,…", "test on these (default: the last fifth)",
      of_last(options, "--test-rows", [&](Source& source, std::string_view text) -> Result<void> {
        const auto rows = parse_rows(text);
        if (!rows) {
          return Failure(rows.error());
        }
        Source& test = options.tests.emplace_back(source);
        test.rows = *rows;
        return {};
      }));
  args.value("--window", "ROWS", "jobs in each schedule (default: 1024)",
             of_last(options, "--window", [](Source& source, std::string_view text) {
               return whole(source.window, "--window")(text);
             }));
  args.value("--every", "ROWS", "from one window to the next (default: half a window)",
             of_last(options, "--every", [](Source& source, std::string_view text) {
               return whole(source.every, "--every")(text);
             }));
  args.value("--lessons", "N", "windows, or generated workloads, at most (default: 64)",
             of_last(options, "--lessons", [](Source& source, std::string_view text) {
               return whole(source.lessons, "--lessons")(text);
             }));
  args.value(
      "--placement", "NAME", "where jobs are placed (default: idle)",
      of_last(options, "--placement", [](Source& source, std::string_view text) -> Result<void> {
        const Result<Placement> placement = parse_placement(text);
        if (!placement) {
          return Failure(placement.error());
        }
        source.placement = *placement;
        return {};
      }));
  args.value("--estimate-error", "E", "expected lengths are wrong by a factor of e^(E × normal)",
             of_last(options, "--estimate-error",
                     [](Source& source, std::string_view text) -> Result<void> {
                       const Result<double> error = parse_real(text, "--estimate-error");
                       if (!error || !(*error >= 0)) {
                         return fail(ErrorCode::Usage, "--estimate-error must be 0 or more");
                       }
                       source.estimate_error = *error;
                       return {};
                     }));
  args.value("--reward", "WHAT",
             "what to make small: slowdown (the default), completion, wait,\n"
             "makespan or seed; others are added with weights:\n"
             "wait,makespan=0.5,p99=0.1,energy=1,fairness=0.5",
             [&](std::string_view text) -> Result<void> {
               Result<Reward> reward = parse_reward(text);
               if (!reward) {
                 return Failure(reward.error());
               }
               options.course.reward = std::move(*reward);
               return {};
             });
  args.value("--beside", "POLICY", "costs are told as parts of this policy's (default: sjf)",
             options.course.usual);
  args.value("--steps", "N", "decisions to learn from (default: 5000000)",
             whole(options.plan.steps, "--steps"));
  args.value("--trainer", "NAME",
             "es: evolution, by what whole schedules cost (the default); ppo: by\n"
             "single decisions, with gradients and a critic",
             [&](std::string_view text) -> Result<void> {
               options.plan.trainer = text == "es" ? "evolution" : text;
               return {};
             });
  args.value("--hidden", "N", "units of a network beside the linear rank (default: 0)",
             [&](std::string_view text) -> Result<void> {
               Result<void> set = whole(options.plan.hidden, "--hidden", 0)(text);
               return set && options.plan.hidden > kMostHidden
                          ? fail(ErrorCode::Usage,
                                 fmt::format("--hidden can be {} at most", kMostHidden))
                          : set;
             });
  args.value("--starts", "HOW",
             "hold: what is free waits with the job that is ranked first (the\n"
             "default); backfill: others go past it if that does not delay it;\n"
             "pass: all that fit go past it",
             [&](std::string_view text) -> Result<void> {
               const std::optional<Starts> starts = parse_starts(text);
               options.plan.starts = starts.value_or(Starts::Hold);
               return starts ? Result<void>{}
                             : fail(ErrorCode::Usage, "--starts is hold, backfill or pass");
             });
  args.flag("--tight", options.plan.tight,
            "put a job that shares a device where it leaves the least free,\n"
            "whatever the placement");
  args.value("--grace", "TIME",
             "how late a job may be before it goes first whatever the model says\n"
             "(default: 10d after its window)",
             [&](std::string_view text) -> Result<void> {
               const Result<Duration> grace = parse_duration(text);
               if (!grace || *grace > kMostGrace) {
                 return fail(ErrorCode::Usage, "--grace is a time up to 30d, like 24h");
               }
               options.plan.grace = *grace;
               return {};
             });
  args.value("--seed", "N", "the same seed gives the same model (default: 1)",
             whole(options.plan.seed, "--seed", 0));
  args.value("--population", "N", "models tried in each generation (default: 24)",
             whole(options.plan.population, "--population", 4));
  args.value("--batch", "N", "schedules that each of them is tried on (default: 12)",
             whole(options.plan.batch, "--batch"));
  args.value("--out", "FILE", "where to write the model", options.out);
  args.value("--curve", "FILE", "write the learning curve as .csv or .svg", options.curve);
  args.flag("--resume", options.resume, "go on from the checkpoint beside the model");
  args.flag("--serve", options.serve,
            "train nothing: play episodes with an agent that speaks on standard\n"
            "input and output, as python/berth_env.py does");
  args.flag("--json", options.json, "print JSON");
  args.example("berth train --workload jobs.csv --gpus 64 --out mine.berth");
  args.example("berth train --workload mix:n=50 --gpus 2x24GiB --reward wait --out mix.berth");
  args.example("berth train --from-history --out ours.berth");
  args.example("berth sim --trace jobs.csv --gpus 64 --policy priority,sjf,rl:mine.berth");
  return args;
}

/// What a source is tested on where nobody says it: the last fifth of its rows, which training then
/// leaves out, or jobs that are generated with other seeds.
Result<Source> hold_out(Source& source) {
  Source test = source;
  if (!has_rows(source)) {
    return test;
  }
  const Result<std::size_t> rows = rows_of(source);
  if (!rows) {
    return Failure(rows.error());
  }
  if (source.rows.empty()) {
    source.rows = {{0, *rows}};
  }
  auto& [first, count] = source.rows.back();
  const std::size_t kept = std::max<std::size_t>(count - std::min(count, *rows - first) / 5, 1);
  test.rows = {{first + kept, std::max<std::size_t>(count - kept, 1)}};
  count = kept;
  return test;
}

/// The daemon's jobs, on its devices. They are measured by the policy in use.
Result<void> add_history(TrainOptions& options) {
  constexpr std::size_t kFewest = 100;
  Source source;
  source.workload = "history";
  source.gpus = "this machine";
  source.machine = daemon_machine();
  if (source.machine.empty()) {
    return fail(ErrorCode::Usage,
                "there is no history: the daemon does not run, or has no devices");
  }
  Result<DaemonJobs> jobs = read_daemon_jobs(false, source.machine);
  if (!jobs) {
    return Failure(jobs.error());
  }
  if (jobs->workload.jobs.size() < kFewest) {
    return fail(ErrorCode::Refused,
                fmt::format("{} jobs have run: too few to learn from, and to tell whether it "
                            "helped; train on {} or more",
                            jobs->workload.jobs.size(), kFewest));
  }
  source.placement = jobs->placement;
  source.past = std::make_shared<const Workload>(std::move(jobs->workload));
  // A model's file is the business of the daemon that uses it.
  options.course.usual = make_policy(jobs->policy) ? jobs->policy : "priority";
  options.sources.push_back(std::move(source));
  return {};
}

std::string describe(const std::vector<Source>& sources) {
  std::string text;
  for (const Source& source : sources) {
    text += fmt::format("{}{} on {}", text.empty() ? "" : "; ",
                        source.workload.substr(source.workload.rfind('/') + 1), source.gpus);
    for (std::size_t i = 0; i < source.rows.size(); ++i) {
      text += fmt::format("{}{}:{}", i == 0 ? " rows " : ",", source.rows[i].first,
                          source.rows[i].second);
    }
  }
  return text;
}

Result<void> learn(const TrainOptions& options, Trainer& trainer) {
  const std::string checkpoint = options.out + ".checkpoint";
  if (options.resume) {
    const Result<std::string> text = read_file(checkpoint);
    if (!text) {
      return fail(text.error().code,
                  fmt::format("there is no checkpoint '{}': omit --resume", checkpoint));
    }
    if (Result<void> loaded = trainer.load(*text); !loaded) {
      return loaded;
    }
  }
  TrainProgress progress(options.plan.steps, options.json);
  while (!trainer.is_done()) {
    const std::optional<CurvePoint> point = trainer.step();
    progress.show(trainer);
    if (point) {
      if (Result<void> saved = write_file(checkpoint, trainer.save()); !saved) {
        return saved;
      }
    }
  }
  progress.done(trainer);
  return {};
}

Result<void> train(TrainOptions& options) {
  if (options.history) {
    if (Result<void> added = add_history(options); !added) {
      return added;
    }
  }
  if (options.serve && options.sources.size() == 1 && !options.sources[0].gpus.empty()) {
    __gnu_cxx::stdio_filebuf<char> words(stdin, std::ios::in);
    __gnu_cxx::stdio_filebuf<char> answers(stdout, std::ios::out);
    std::istream in(&words);
    std::ostream out(&answers);
    return serve_episodes(options.sources[0], options.course, in, out);
  }
  if (options.serve) {
    return fail(ErrorCode::Usage, "--serve wants one --workload, and its --gpus");
  }
  if (options.sources.empty() || options.out.empty()) {
    return fail(ErrorCode::Usage,
                "say what to train on and where to write the model: --workload "
                "jobs.csv --gpus 8 --out mine.berth");
  }
  for (Source& source : options.sources) {
    if (source.gpus.empty()) {
      return fail(
          ErrorCode::Usage,
          fmt::format("say on which machine {} runs: --gpus 8, --gpus 2x8x24GiB", source.workload));
    }
  }
  if (options.tests.empty()) {
    for (Source& source : options.sources) {
      Result<Source> test = hold_out(source);
      if (!test) {
        return Failure(test.error());
      }
      options.tests.push_back(std::move(*test));
    }
  }
  Result<Course> course = Course::make(options.sources, options.course, options.plan.seed * 1000);
  Result<Course> tests = course ? Course::make(options.tests, options.course, kTestSeed)
                                : Result<Course>(Failure(course.error()));
  if (!tests) {
    return Failure(tests.error());
  }
  const Result<std::unique_ptr<Trainer>> made = make_trainer(*course, options.plan);
  if (!made) {
    return Failure(made.error());
  }
  Trainer& trainer = **made;
  if (Result<void> learned = learn(options, trainer); !learned) {
    return learned;
  }
  Model model = trainer.best();
  const TestResult result = test_model(*tests, model);
  model.origin.name = options.out.substr(options.out.rfind('/') + 1);
  model.origin.workload = describe(options.sources);
  model.origin.reward = describe(options.course.reward);
  model.origin.trainer =
      fmt::format("{}, {} decisions, {}", options.plan.trainer, trainer.steps(),
                  model.is_linear() ? "linear" : fmt::format("{} hidden units", model.hidden));
  model.origin.result = fmt::format("{:.4g} on {} unseen schedules, {} {:.4g}", result.model,
                                    tests->size(), options.course.usual, result.usual);
  if (Result<void> written = write_file(options.out, to_text(model)); !written) {
    return written;
  }
  if (!options.curve.empty()) {
    if (Result<void> drawn = write_curve(options.curve, trainer.curve()); !drawn) {
      return drawn;
    }
  }
  print_result(model, result, trainer, options.course.usual, options.json);
  return {};
}

}  // namespace

int train_main(Words words) {
  TrainOptions options;
  options.course.reward = *parse_reward("slowdown");
  Args args = train_args(options);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kTrainName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<void> trained = train(options);
  return trained ? 0 : report(kTrainName, trained.error());
}

}  // namespace berth
