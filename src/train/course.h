// Course: the workloads that a model is trained or tested on. A lesson is one workload on one
// machine; lessons of one source form a group. Lessons share nothing, so they are run on all cores,
// and what comes of them does not depend on how many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/learned.h"
#include "sim/machine.h"
#include "sim/workload.h"
#include "train/agent.h"
#include "train/reward.h"

namespace berth {

/// Where lessons come from: a trace or jobs that were run, cut into windows, or a generator.
struct Source {
  std::string workload;  // a file, a generator's words, or what `past` is called
  std::string gpus;
  std::shared_ptr<const Workload> past;  // jobs that were run; null: they are read or generated
  Machine machine;                       // empty: the one that `gpus` names
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // first and count; empty: all of a trace
  std::size_t window = 1024;                              // rows of one lesson
  std::size_t every = 0;     // rows between the beginnings of two lessons; 0: half a window
  std::size_t lessons = 64;  // at most
  SharingModel sharing = undisturbed;
  Placement placement = kUsualPlacement;
  double estimate_error = 0;  // see EstimateOptions
};

/// Whether it has so many rows and no more, unlike a generator.
bool has_rows(const Source& source);
/// The jobs in it, if it has rows.
Result<std::size_t> rows_of(const Source& source);

struct Lesson {
  Workload workload;
  std::vector<Duration> expected;
  std::size_t group = 0;
  double usual = 1;  // what it costs under the policy that it is measured by
};

struct CourseOptions {
  Reward reward;
  LearnedOptions policy;
  unsigned threads = 0;       // 0: one for each core
  std::string usual = "sjf";  // costs are told as parts of this policy's
};

class Course {
 public:
  /// `seed` draws generated workloads and estimates: others for another seed.
  static Result<Course> make(const std::vector<Source>& sources, const CourseOptions& options,
                             std::uint64_t seed);

  std::size_t size() const { return lessons_.size(); }

  /// The mean cost of each model over these lessons, as a part of the usual policy's; each group
  /// counts the same.
  std::vector<double> costs(std::span<const Model> models, std::span<const std::size_t> lessons);
  double cost(const Model& model);

  /// What a lesson costs, in the reward's own unit.
  double plain_cost(const Lesson& lesson, std::unique_ptr<Policy> policy) const;
  /// What a lesson costs when an agent decides, in the reward's own unit.
  Result<double> play(const Lesson& lesson, Agent& agent) const;
  std::span<const Lesson> lessons() const { return lessons_; }
  const Machine& machine(const Lesson& lesson) const { return machines_[lesson.group]; }

  /// Jobs started in all runs so far: the decisions that were made.
  std::uint64_t steps() const { return steps_; }
  void count_steps(std::uint64_t steps) { steps_ += steps; }
  unsigned threads() const { return options_.threads; }

 private:
  SimOptions sim_options(const Lesson& lesson) const;

  CourseOptions options_;
  std::vector<Source> sources_;
  std::vector<Machine> machines_;  // by group
  std::vector<Lesson> lessons_;
  std::uint64_t steps_ = 0;
};

}  // namespace berth
