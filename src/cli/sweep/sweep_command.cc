// berth sweep: expands a template over parameters, and prints the commands, runs or queues them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "api/json_writer.h"
#include "base/read_file.h"
#include "cli/commands.h"
#include "cli/jobs/submission.h"
#include "cli/sweep/sweep_name.h"
#include "cli/sweep/sweep_options.h"
#include "cli/sweep/sweep_summary_command.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/job_options.h"
#include "spec/job_line.h"
#include "spec/sweep.h"
#include "spec/sweep_file.h"
#include "spec/text_jobs.h"

namespace berth {
namespace {

constexpr std::string_view kSweepName = "berth sweep";

struct Options {
  SweepSpec spec;
  std::optional<std::string> file;
  bool shuffle = false;
  bool print = false;
  bool json = false;
  bool count = false;
  bool run = false;
  bool submit = false;
};

Args sweep_args(Options& options) {
  Args args("berth sweep TEMPLATE -p NAME VALUE… [options]",
            "Prints one command for every combination of the parameters, the last one varying\n"
            "fastest. {name} in the template stands for a value, {{ and }} for braces.");
  args.positional("TEMPLATE", "the command, with {name} for each parameter", 0, 1,
                  [&options](std::string_view word) -> Result<void> {
                    options.spec.command = word;
                    return {};
                  });
  add_sweep_options(args, options.spec, LoneValue::MayBeRange);
  args.flag("--shuffle", options.shuffle, "in random order; the same as --mode shuffled_grid");
  args.value("--mode", "MODE",
             "grid (the default) or shuffled_grid (the default with\n"
             "--n-samples); a sample in grid mode is the first N points",
             [&options](std::string_view word) -> Result<void> {
               const Result<SweepOrder> order = parse_sweep_order(word);
               if (!order) {
                 return Failure(order.error());
               }
               options.spec.order = *order;
               return {};
             });
  args.flag("--allow-unused", options.spec.allow_unused,
            "accept parameters that the template does not use");
  args.value("--file", "FILE",
             "read the sweep from a TOML file with the keys command, mode,\n"
             "n_samples, seed, where, zip, allow_unused and [parameters];\n"
             "what is said on the command line goes before it",
             options.file);
  args.flag("--print", options.print, "print the commands (the default)");
  args.flag("--json", options.json,
            "print a JSON object per line: {\"version\":1,\"command\":…,\n"
            "\"params\":{NAME:TEXT,…}}");
  args.flag("--count", options.count, "print only how many commands there are");
  args.flag("--run", options.run, "run them; every word after it belongs to berth run");
  args.flag("--submit", options.submit,
            "queue them. Takes the options of berth submit, too (priority has no short\n"
            "form here). The jobs carry the sweep's --name and their parameters:\n"
            "berth kill sweep=NAME. The default name is the program and the time");
  args.value("--summarize", "GRID",
             "instead: print the parameters of the jobs of a grid (a CSV file with\n"
             "the column JOB_DIR, or its folder) beside the last values of\n"
             "--key NAME… in their logs (--log NAME); --csv prints CSV",
             [](std::string_view) { return Result<void>(); });
  args.example("berth sweep 'train.py --lr {lr} --bs {bs}' -p lr 0.1 0.01 -p bs 32 64");
  args.example("berth sweep 'train.py --lr {lr}' -p lr=log:1e-5..1e-1 --n-samples 20 --seed 7");
  args.example("berth sweep 'net.py {a} {b}' -p a 64 128 -p b 64 128 --where 'b <= a'");
  args.example("berth sweep --file sweep.toml --run --gpus 0,1");
  args.example("berth sweep --summarize exps/ExA1 --key val_acc loss");
  args.example("berth sweep 'train.py --lr {lr}' -p lr 0.1 0.01 --submit --name lr-search");
  return args;
}

/// The sweep of the command line, over that of the file.
Result<SweepSpec> gather_spec(Options options) {
  if (options.shuffle) {
    options.spec.order = SweepOrder::Shuffled;
  }
  if (options.print + options.json + options.count + options.run + options.submit > 1) {
    return fail(ErrorCode::Usage,
                "only one of --print, --json, --count, --run and --submit can be given");
  }
  SweepSpec spec = std::move(options.spec);
  if (options.file) {
    const Result<std::string> text = read_file(*options.file);
    if (!text) {
      return Failure(text.error());
    }
    Result<SweepSpec> from_file = parse_sweep_file(*text, *options.file);
    if (!from_file) {
      return Failure(from_file.error());
    }
    spec = override_sweep(*std::move(from_file), std::move(spec));
  }
  if (!spec.command) {
    return fail(ErrorCode::Usage, "TEMPLATE is missing (--help shows the usage)");
  }
  return spec;
}

std::string point_json(const Sweep& sweep, const SweepCursor& point) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("command", point.command());
    json.object("params", [&] {
      for (std::size_t i = 0; i < sweep.params().size(); ++i) {
        json.field(sweep.params()[i].name(), point.values()[i].text);
      }
    });
  });
  return json.take() + "\n";
}

Result<std::uint64_t> count_points(const Sweep& sweep, std::uint64_t seed) {
  if (const auto count = sweep.count()) {
    return *count;
  }
  std::uint64_t count = 0;
  const Result<void> done = for_each_point(sweep, seed, [&count](const SweepCursor&) {
    ++count;
    return true;
  });
  if (!done) {
    return Failure(done.error());
  }
  return count;
}

/// Points that are kept, to be run or queued, are not to be without end. To be called for each.
Result<void> check_count(const Sweep& sweep, std::size_t kept) {
  const std::uint64_t count = std::max<std::uint64_t>(sweep.count().value_or(0), kept);
  if (count <= kMostQueued) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("the sweep has {} points, and at most {} are run or queued at once: "
                          "--n-samples N draws some of them",
                          sweep.count() ? std::to_string(count) : "too many", kMostQueued));
}

/// Nothing of a sweep is run or queued when one of its points is no job.
Failure wrong_point(std::string_view what, std::size_t before, const Error& error) {
  return fail(error.code,
              fmt::format("nothing was {}: point {} {}", what, before + 1, error.message));
}

Result<int> run_points(const Sweep& sweep, std::uint64_t seed, Words run_words) {
  std::vector<JobLine> jobs;
  Result<void> taken = check_count(sweep, 0);
  const Result<void> done = for_each_point(sweep, seed, [&](const SweepCursor& point) {
    Result<JobLine> job = read_job(point.command());
    if (!job) {
      taken = wrong_point("run", jobs.size(), job.error());
      return false;
    }
    job->line = jobs.size() + 1;
    jobs.push_back(std::move(*job));
    taken = check_count(sweep, jobs.size());
    return taken.has_value();
  });
  if (!done || !taken) {
    return Failure(done ? taken.error() : done.error());
  }
  return run_jobs(std::move(jobs), run_words);
}

/// What --submit adds to a sweep's options.
struct SweepSubmission {
  JobOptions jobs;
  std::string token;

  Args args() {
    Args args("", "");
    jobs.declare(args);
    args.value("--token", "TEXT", "the same token again queues nothing again", token);
    return args;
  }
};

Result<int> submit_points(const Sweep& sweep, std::uint64_t seed, std::string_view command,
                          const SweepSubmission& how) {
  SubmitRequest submission;
  submission.token = how.token;
  const JobOptions& job_options = how.jobs;
  Result<JobDescription> defaults = job_options.description();
  if (!defaults) {
    return Failure(defaults.error());
  }
  const bool unnamed = defaults->name.empty();
  if (unnamed) {
    defaults->name = usual_sweep_name(command, std::time(nullptr));
  }
  defaults->sweep = defaults->name;
  submission.defaults = std::move(*defaults);
  LineJobs points(submission.defaults);
  Result<void> taken = check_count(sweep, 0);
  const Result<void> done = for_each_point(sweep, seed, [&](const SweepCursor& point) {
    Result<SubmittedJob> job = points.add(sweep, point);
    if (!job) {
      taken = wrong_point("queued", submission.jobs.size(), job.error());
      return false;
    }
    submission.jobs.push_back(std::move(*job));
    taken = check_count(sweep, submission.jobs.size());
    return taken.has_value();
  });
  if (!done || !taken) {
    return Failure(done ? taken.error() : done.error());
  }
  for (SubmittedJob& job : submission.jobs) {
    if (const Result<void> array = job_options.apply_array(job); !array) {
      return Failure(array.error());
    }
  }
  if (submission.jobs.empty()) {
    return fail(ErrorCode::Usage, "the sweep has no points: nothing was queued");
  }
  const Result<std::vector<SubmitReply>> replies = send_submission(submission);
  if (!replies) {
    return Failure(replies.error());
  }
  if (unnamed) {
    fmt::print(stderr, "the sweep is called {0}: berth queue sweep={0}\n",
               submission.defaults.name);
  }
  write_out(job_ranges(*replies) + "\n");
  return 0;
}

Result<int> perform(const Options& options, const SweepSubmission& submission, Words run_words) {
  Result<SweepSpec> spec = gather_spec(options);
  if (!spec) {
    return Failure(spec.error());
  }
  const std::uint64_t seed = spec->seed ? *spec->seed : fresh_seed();
  const std::string command = spec->command.value_or("");
  const Result<Sweep> sweep = Sweep::make(*std::move(spec));
  if (!sweep) {
    return Failure(sweep.error());
  }
  if (options.run) {
    return run_points(*sweep, seed, run_words);
  }
  if (options.submit) {
    return submit_points(*sweep, seed, command, submission);
  }
  if (options.count) {
    const Result<std::uint64_t> count = count_points(*sweep, seed);
    if (!count) {
      return Failure(count.error());
    }
    write_out(fmt::format("{}\n", *count));
    return 0;
  }
  const Result<void> done = for_each_point(*sweep, seed, [&](const SweepCursor& point) {
    return write_out(options.json ? point_json(*sweep, point) : as_job_lines(point.command()));
  });
  if (!done) {
    return Failure(done.error());
  }
  return 0;
}

}  // namespace

int sweep_main(Words words) {
  const auto run = std::find(words.begin(), words.end(), "--run");
  if (std::any_of(words.begin(), run, [](std::string_view word) {
        return word == "--summarize" || word.starts_with("--summarize=");
      })) {
    return summarize_main(words);
  }
  const auto own = static_cast<std::size_t>(run - words.begin()) + (run == words.end() ? 0 : 1);
  Options options;
  SweepSubmission submission;
  Args args = sweep_args(options);
  const Args job_args = submission.args();
  if (std::find(words.begin(), words.end(), "--submit") != words.end()) {
    args.accept_also(job_args);
  }
  const Result<bool> parsed = args.parse(words.first(own));
  if (!parsed) {
    return report(kSweepName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<int> status = perform(options, submission, words.subspan(own));
  return status ? *status : report(kSweepName, status.error());
}

}  // namespace berth
