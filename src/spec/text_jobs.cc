#include "spec/text_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "spec/peasy.h"

namespace berth {
namespace {

/// The defaults, without what all jobs of a submission have in common.
SubmittedJob blank_job(const JobDescription& defaults) {
  SubmittedJob job{defaults, 1, {}};
  job.description.environment.clear();
  return job;
}

/// A path is taken as it is, not as a pattern.
std::string plain_path(std::string_view path) {
  std::string pattern;
  for (const char c : path) {
    pattern += c == '%' ? "%%" : std::string(1, c);
  }
  return pattern;
}

}  // namespace

void TextJobs::reserve(std::size_t expected, const TextLimits& limits) {
  if (limits.bounded) {
    // A list that grows takes up to three times its size.
    jobs.reserve(std::min({expected, limits.keep, limits.most()}));
  }
}

bool TextJobs::add(SubmittedJob job, std::size_t line, const TextLimits& limits) {
  job.description.spec.needs.settle();
  if (limits.bounded) {
    if (const Result<void> checked = check_bounds(job.description); !checked) {
      complain(line, line == 0 ? 0 : 1, checked.error().message);
      return line != 0;  // of a sweep the others will not be better
    }
    if (const Result<void> added = meter_.add(job); !added) {
      complain(line, line == 0 ? 0 : 1, added.error().message);
      return false;
    }
  }
  ++count;
  if (jobs.size() < limits.keep) {
    jobs.push_back(std::move(job));
    lines.push_back(line);
  } else if (other_needs.size() < kMostNeeds) {
    other_needs.try_emplace(job.description.spec.needs, line);
  }
  return true;
}

void TextJobs::complain(std::size_t line, std::size_t column, std::string message) {
  if (problems.size() < kMostProblems) {
    problems.push_back({line, column, std::move(message)});
  }
}

Result<SubmittedJob> LineJobs::add(JobLine line) {
  SubmittedJob job = blank_job(defaults_);
  job.description.command = std::move(line.command);
  const LineOptions& options = line.options;
  job.description.name = options.name.value_or(defaults_.name);
  job.description.project = options.project.value_or(defaults_.project);
  options.apply(job.description.spec);
  for (const AfterName& after : options.after) {
    const Result<std::size_t> place = earlier_.find(after);
    if (!place) {
      return Failure(place.error());
    }
    job.follows.push_back({*place, after.when});
  }
  earlier_.add(options.name);
  return job;
}

Result<SubmittedJob> LineJobs::add(const Sweep& sweep, const SweepCursor& point) {
  Result<JobLine> line = read_job(point.command());
  if (!line) {
    return Failure(line.error());
  }
  Result<SubmittedJob> job = add(std::move(*line));
  for (std::size_t i = 0; job && i < sweep.params().size(); ++i) {
    job->description.parameters[sweep.params()[i].name()] = point.values()[i].text;
  }
  return job;
}

TextJobs read_line_jobs(std::string_view text, const JobDescription& defaults,
                        const TextLimits& limits) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  TextJobs result;
  result.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1, limits);
  LineJobs lines(defaults);
  JobReader reader(JobReader::Separator::Newline);
  while (!text.empty() && !limits.patience.over()) {
    reader.feed(text.substr(0, kPiece));
    text.remove_prefix(std::min(text.size(), kPiece));
    if (text.empty()) {
      reader.finish();
    }
    while (auto item = reader.next()) {
      if (!*item) {
        const LineError& error = item->error();
        result.complain(error.line, error.column, error.message);
        continue;
      }
      const std::size_t line = (*item)->line;
      Result<SubmittedJob> job = lines.add(std::move(**item));
      if (!job) {
        result.complain(line, 1, job.error().message);
      } else if (!result.add(std::move(*job), line, limits)) {
        return result;
      }
    }
  }
  return result;
}

TextJobs read_peasy_jobs(std::string_view text, const JobDescription& defaults,
                         const TextLimits& limits) {
  // One more than can be taken, so that this is told.
  const std::size_t most = limits.bounded ? limits.most() + 1 : limits.most();
  PeasyText read = parse_peasy(text, {most, TextJobs::kMostProblems, limits.patience});
  TextJobs result;
  result.reserve(read.jobs.size(), limits);
  for (PeasyJob& each : read.jobs) {
    SubmittedJob job = blank_job(defaults);
    job.description.name = each.name.empty() ? defaults.name : std::move(each.name);
    job.description.output = each.output.empty() ? defaults.output : plain_path(each.output);
    job.description.command = std::move(each.command);
    if (!result.add(std::move(job), each.line, limits)) {
      break;
    }
  }
  for (LineError& problem : read.problems) {
    result.complain(problem.line, problem.column, std::move(problem.message));
  }
  return result;
}

SubmittedJob job_of(const Task& task, std::uint64_t id, const JobDescription& defaults) {
  SubmittedJob job = blank_job(defaults);
  job.description.command = task.command(task.epochs, id);
  job.description.directory = task.directory;
  job.description.name = fmt::format("task-{}", id);
  job.description.spec.priority = task.priority;
  return job;
}

TextJobs read_task_jobs(std::string_view text, TaskFormat format, const JobDescription& defaults,
                        const TextLimits& limits) {
  format.most_tasks = std::min(format.most_tasks, limits.most());
  format.patience = limits.patience;
  TaskList read = parse_tasks(text, format);
  TextJobs result;
  result.reserve(read.tasks.size(), limits);
  for (const Task& task : read.tasks) {
    if (!result.add(job_of(task, result.count + 1, defaults), task.line, limits)) {
      break;
    }
  }
  for (LineError& problem : read.problems) {
    result.complain(problem.line, problem.column, std::move(problem.message));
  }
  return result;
}

namespace {

/// What there is to say of a sweep whose points have been looked at.
void judge_count(TextJobs& result, bool gave_up, const TextLimits& limits) {
  if (gave_up) {
    result.complain(0, 0,
                    fmt::format("gave up after {} points: too few satisfy the constraints, or "
                                "there are too many to look at",
                                result.count));
  } else if (result.count > limits.most()) {
    result.complain(0, 0,
                    fmt::format("the sweep has {} points, and {} can be queued at once: sample it "
                                "(n_samples), or split it",
                                result.count, limits.most()));
  } else if (result.count == 0) {
    result.complain(0, 0, "the sweep has no points");
  }
}

}  // namespace

TextJobs read_sweep_jobs(SweepSpec spec, std::uint64_t seed, const JobDescription& defaults,
                         const TextLimits& limits) {
  // More than can be queued, so that a preview ends.
  constexpr std::uint64_t kMostTries = 20'000'000;
  TextJobs result;
  const std::string& name = defaults.sweep.empty() ? defaults.name : defaults.sweep;
  if (name.empty()) {
    result.complain(0, 0, "a sweep needs a name to be found by");
  }
  if (!spec.command || spec.command->empty()) {
    result.complain(0, 0, "a sweep needs a template, such as train.py --lr {lr}");
    return result;
  }
  spec.most_tries = kMostTries;
  spec.most_steps = kMostSweepSteps;
  spec.patience = limits.patience;
  const Result<Sweep> sweep = Sweep::make(std::move(spec));
  if (!sweep) {
    result.complain(0, 0, sweep.error().message);
    return result;
  }
  JobDescription common = defaults;
  common.sweep = name;
  LineJobs points(common);
  const std::optional<std::uint64_t> count = sweep->count();
  // Of more than can be queued the first are enough, for whoever wants to see some.
  const std::size_t keep =
      count.value_or(0) > limits.most() ? std::min<std::size_t>(limits.keep, 100) : limits.keep;
  result.reserve(std::min<std::uint64_t>(count.value_or(keep), keep), limits);
  SweepCursor cursor(*sweep, seed);
  while (cursor.next()) {
    if (result.jobs.size() == keep) {
      ++result.count;
      if (count) {
        break;  // known without looking
      }
      continue;
    }
    Result<SubmittedJob> job = points.add(*sweep, cursor);
    if (!job) {
      result.complain(0, 0, fmt::format("point {} {}", result.count + 1, job.error().message));
      return result;  // the others will not be better
    }
    if (!result.add(std::move(*job), 0, limits)) {
      return result;
    }
  }
  result.count = count.value_or(result.count);
  judge_count(result, cursor.gave_up(), limits);
  return result;
}

}  // namespace berth
