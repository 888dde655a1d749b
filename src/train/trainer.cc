#include "train/trainer.h"

#include <fmt/format.h>

#include <limits>

#include "rl/model_file.h"
#include "train/saved.h"

namespace berth {
namespace {

constexpr std::uint64_t kLook = 5;  // generations between two looks at the whole course
constexpr std::uint64_t kMostPoints = 1'000'000;

}  // namespace

std::vector<double> first_weights(std::size_t hidden, Random random) {
  std::vector<double> weights(weights_of(hidden), 0.0);
  weights[0] = 1;
  // Hidden units begin with different directions, and say nothing yet.
  for (std::size_t i = kTerms; i < kTerms + hidden * (kInputs + 1); ++i) {
    weights[i] = 2 * random.unit() - 1;
  }
  return weights;
}

Trainer::Trainer(Course& course, const TrainPlan& plan)
    : course_(course),
      plan_(plan),
      random_(plan.seed ^ 0x5eed),
      best_(model_of(first_weights(plan.hidden, Random(plan.seed)))),
      best_cost_(std::numeric_limits<double>::infinity()) {}

Model Trainer::model_of(std::span<const double> weights) const {
  Model model;
  model.hidden = plan_.hidden;
  model.starts = plan_.starts;
  model.tight = plan_.tight;
  model.grace = plan_.grace;
  model.weights.assign(weights.begin(), weights.end());
  model.origin.seed = plan_.seed;
  return model;
}

std::optional<CurvePoint> Trainer::step() {
  if (generation_ == 0) {
    look_at_course(0);
    curve_.back().batch_cost = curve_.back().course_cost;
  }
  const std::uint64_t before = course_.steps();
  std::vector<std::size_t> lessons;
  for (std::size_t i = 0; i < plan_.batch; ++i) {
    lessons.push_back(random_.below(course_.size()));
  }
  const double cost = learn(lessons);
  ++generation_;
  steps_ += course_.steps() - before;
  if (generation_ % kLook != 0 && !is_done()) {
    return std::nullopt;
  }
  look_at_course(cost);
  return curve_.back();
}

/// Not a step: nothing is learned from it.
void Trainer::look_at_course(double batch_cost) {
  Model model = current();
  const double cost = course_.cost(model);
  curve_.push_back({generation_, steps_, batch_cost, cost});
  if (cost < best_cost_) {
    best_cost_ = cost;
    best_ = std::move(model);
  }
}

std::string Trainer::fingerprint() const {
  return fmt::format(
      "berth-training 2 {} hidden={} starts={} tight={} grace={} population={} batch={} spread={} "
      "seed={} "
      "lessons={}",
      plan_.trainer, plan_.hidden, starts_name(plan_.starts), plan_.tight,
      plan_.grace / std::chrono::seconds(1), plan_.population, plan_.batch, plan_.spread,
      plan_.seed, course_.size());
}

std::string Trainer::save() const {
  SavedWriter out;
  out.text(fingerprint());
  out.whole(generation_);
  out.whole(steps_);
  out.whole(random_.state());
  out.real(best_cost_);
  out.whole(curve_.size());
  for (const CurvePoint& point : curve_) {
    out.whole(point.generation);
    out.whole(point.steps);
    out.real(point.batch_cost);
    out.real(point.course_cost);
  }
  out.text(to_text(best_));
  save_own(out);
  return out.take();
}

Result<void> Trainer::load(std::string_view text) {
  SavedReader in(text);
  if (in.text() != fingerprint()) {
    return fail(ErrorCode::Usage,
                "the checkpoint is of another training: say the same workloads, seed and settings, "
                "or omit --resume");
  }
  generation_ = in.whole();
  steps_ = in.whole();
  random_ = Random(in.whole());
  best_cost_ = in.real(true);
  curve_.clear();
  for (std::uint64_t left = in.whole_up_to(kMostPoints); left > 0 && in.is_good(); --left) {
    CurvePoint& point = curve_.emplace_back();
    point.generation = in.whole();
    point.steps = in.whole();
    point.batch_cost = in.real();
    point.course_cost = in.real();
  }
  Result<Model> best = parse_model(in.text(), "the checkpoint's model");
  if (!best || !load_own(in) || !in.is_done()) {
    return fail(ErrorCode::Usage, "the checkpoint is damaged: omit --resume to begin again");
  }
  best_ = std::move(*best);
  return {};
}

Result<std::unique_ptr<Trainer>> make_trainer(Course& course, const TrainPlan& plan) {
  if (plan.trainer == "evolution") {
    return make_evolution_trainer(course, plan);
  }
  if (plan.trainer == "ppo" && (plan.starts != Starts::Hold || plan.tight)) {
    return fail(ErrorCode::Usage,
                "ppo trains models that hold devices for the first job: omit --starts and --tight, "
                "or train by --trainer es");
  }
  if (plan.trainer == "ppo") {
    return make_ppo_trainer(course, plan);
  }
  return fail(ErrorCode::Usage,
              fmt::format("there is no trainer '{}': choose es or ppo", plan.trainer));
}

}  // namespace berth
