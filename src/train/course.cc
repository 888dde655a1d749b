#include "train/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/generate.h"
#include "sim/summary.h"
#include "sim/trace.h"
#include "train/episode.h"
#include "train/on_all_cores.h"

namespace berth {
namespace {

constexpr double kUnfinished = 1e9;  // the cost of a schedule that never ends

/// The rows first…first+count of a workload, as a workload of its own.
Workload cut(const Workload& all, std::size_t first, std::size_t count) {
  Workload part;
  part.owners = all.owners;
  const std::size_t end = std::min(first + count, all.jobs.size());
  part.jobs.assign(all.jobs.begin() + static_cast<std::ptrdiff_t>(first),
                   all.jobs.begin() + static_cast<std::ptrdiff_t>(end));
  return part;
}

Result<Machine> machine_of(const Source& source) {
  return source.machine.empty() ? parse_machine(source.gpus) : Result<Machine>(source.machine);
}

Result<std::shared_ptr<const Workload>> read_all(const Source& source, const Machine& machine) {
  if (source.past) {
    return source.past;
  }
  TraceOptions reading;
  reading.most_gpus = static_cast<std::uint32_t>(machine.size());
  reading.skip_bad = true;
  Result<Trace> trace = read_trace(source.workload, reading);
  if (!trace) {
    return Failure(trace.error());
  }
  return std::make_shared<const Workload>(std::move(trace->workload));
}

Result<std::vector<Workload>> cut_trace(const Source& source, const Machine& machine) {
  const Result<std::shared_ptr<const Workload>> read = read_all(source, machine);
  if (!read) {
    return Failure(read.error());
  }
  const Workload& all = **read;
  std::vector<std::pair<std::size_t, std::size_t>> rows = source.rows;
  if (rows.empty()) {
    rows.emplace_back(0, all.jobs.size());
  }
  const std::size_t every =
      source.every > 0 ? source.every : std::max<std::size_t>(source.window / 2, 1);
  std::vector<Workload> windows;
  for (const auto& [first, count] : rows) {
    const std::size_t end = std::min(first + std::min(count, all.jobs.size()), all.jobs.size());
    if (first >= end) {
      return fail(ErrorCode::Usage, fmt::format("'{}' has only {} jobs: there is no row {}",
                                                source.workload, all.jobs.size(), first));
    }
    std::size_t at = first;
    do {
      windows.push_back(cut(all, at, std::min(source.window, end - at)));
      at += every;
    } while (at + source.window <= end);
  }
  if (windows.size() > source.lessons) {  // evenly over all of it
    std::vector<Workload> some;
    for (std::size_t i = 0; i < source.lessons; ++i) {
      some.push_back(std::move(windows[i * windows.size() / source.lessons]));
    }
    windows = std::move(some);
  }
  return windows;
}

Result<std::vector<Workload>> generate_all(const Source& source, const Machine& machine,
                                           std::uint64_t seed) {
  std::vector<Workload> workloads;
  for (std::size_t i = 0; i < source.lessons; ++i) {
    Result<Workload> one = generate(source.workload, machine, seed + i);
    if (!one) {
      return Failure(one.error());
    }
    workloads.push_back(std::move(*one));
  }
  return workloads;
}

}  // namespace

bool has_rows(const Source& source) {
  const std::string& workload = source.workload;
  return source.past || workload.find('.') < workload.find(':') ||
         workload.find('/') != std::string::npos;
}

Result<std::size_t> rows_of(const Source& source) {
  const Result<Machine> machine = machine_of(source);
  if (!machine) {
    return Failure(machine.error());
  }
  const Result<std::shared_ptr<const Workload>> all = read_all(source, *machine);
  return all ? Result<std::size_t>((*all)->jobs.size()) : Failure(all.error());
}

Result<Course> Course::make(const std::vector<Source>& sources, const CourseOptions& options,
                            std::uint64_t seed) {
  Course course;
  course.options_ = options;
  course.sources_ = sources;
  for (std::size_t group = 0; group < sources.size(); ++group) {
    const Source& source = sources[group];
    Result<Machine> machine = machine_of(source);
    if (!machine) {
      return Failure(machine.error());
    }
    Result<std::vector<Workload>> workloads =
        has_rows(source) ? cut_trace(source, *machine) : generate_all(source, *machine, seed);
    if (!workloads) {
      return Failure(workloads.error());
    }
    course.machines_.push_back(std::move(*machine));
    for (std::size_t i = 0; i < workloads->size(); ++i) {
      Lesson& lesson = course.lessons_.emplace_back();
      lesson.workload = std::move((*workloads)[i]);
      lesson.group = group;
      lesson.expected = estimates(lesson.workload, {.error = source.estimate_error}, seed + i);
    }
  }
  if (!make_policy(options.usual)) {
    return Failure(make_policy(options.usual).error());
  }
  on_all_cores(course.lessons_.size(), options.threads, [&](std::size_t i) {
    Lesson& lesson = course.lessons_[i];
    lesson.usual =
        std::max(course.plain_cost(lesson, std::move(*make_policy(options.usual))), 1e-9);
  });
  return course;
}

double Course::plain_cost(const Lesson& lesson, std::unique_ptr<Policy> policy) const {
  const Result<SimRun> run = simulate(lesson.workload, lesson.expected, machine(lesson),
                                      std::move(policy), sim_options(lesson));
  return run ? options_.reward.cost_of(summarise(lesson.workload, machine(lesson), *run))
             : kUnfinished;
}

Result<double> Course::play(const Lesson& lesson, Agent& agent) const {
  return berth::play(
      {lesson.workload, lesson.expected, machine(lesson), sim_options(lesson), options_.reward},
      agent);
}

SimOptions Course::sim_options(const Lesson& lesson) const {
  const Source& source = sources_[lesson.group];
  SimOptions sim;
  sim.sharing = source.sharing;
  sim.placement = source.placement;
  return sim;
}

std::vector<double> Course::costs(std::span<const Model> models,
                                  std::span<const std::size_t> lessons) {
  std::vector<double> plain(models.size() * lessons.size());
  on_all_cores(plain.size(), options_.threads, [&](std::size_t i) {
    plain[i] = plain_cost(lessons_[lessons[i % lessons.size()]],
                          make_learned(models[i / lessons.size()], options_.policy));
  });
  std::vector<double> usual(sources_.size());
  for (const std::size_t lesson : lessons) {
    usual[lessons_[lesson].group] += lessons_[lesson].usual;
    steps_ += lessons_[lesson].workload.jobs.size() * models.size();
  }
  std::vector<double> result;
  for (std::size_t model = 0; model < models.size(); ++model) {
    std::vector<double> sums(sources_.size());
    for (std::size_t k = 0; k < lessons.size(); ++k) {
      sums[lessons_[lessons[k]].group] += plain[model * lessons.size() + k];
    }
    double total = 0;
    double groups = 0;
    for (std::size_t group = 0; group < sums.size(); ++group) {
      if (usual[group] > 0) {
        total += sums[group] / usual[group];
        ++groups;
      }
    }
    result.push_back(total / std::max(groups, 1.0));
  }
  return result;
}

double Course::cost(const Model& model) {
  std::vector<std::size_t> all(lessons_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return costs(std::span(&model, 1), all)[0];
}

}  // namespace berth
