// Trainer: makes a model of a course, one generation at a time. The same plan gives the same
// weights to the bit, on any number of cores, whether or not it was interrupted: a checkpoint holds
// all that the next generation depends on.
//
// Evolution knows nothing but what whole schedules cost (train/evolution.h). Proximal policy
// optimisation looks at single decisions, and trains by gradients (train/ppo.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "train/course.h"
#include "train/curve.h"

namespace berth {

class SavedReader;
class SavedWriter;

struct TrainPlan {
  std::string trainer = "evolution";  // or "ppo"
  std::size_t hidden = 0;             // units of the kernel; 0: a linear rank
  Starts starts = Starts::Hold;       // see Model
  bool tight = false;                 // see Model
  Duration grace = Model{}.grace;     // see Model
  std::size_t population = 24;        // evolution: models in each generation
  std::size_t batch = 12;             // lessons in each generation
  double spread = 0.5;                // evolution: of the first models
  std::uint64_t seed = 1;
  std::uint64_t steps = 5'000'000;  // decisions after which training ends
};

class Trainer {
 public:
  /// Borrows the course.
  Trainer(Course& course, const TrainPlan& plan);
  virtual ~Trainer() = default;

  bool is_done() const { return steps_ >= plan_.steps; }
  /// One generation; a point of the curve where the whole course was looked at.
  std::optional<CurvePoint> step();

  /// The best model so far, by the whole course.
  const Model& best() const { return best_; }
  double best_cost() const { return best_cost_; }
  std::uint64_t steps() const { return steps_; }
  const Curve& curve() const { return curve_; }

  std::string save() const;
  /// Takes up what save() wrote; fails if that was of another plan or course.
  Result<void> load(std::string_view text);

 protected:
  /// Learns from some lessons; returns what those cost.
  virtual double learn(std::span<const std::size_t> lessons) = 0;
  virtual Model current() const = 0;
  virtual void save_own(SavedWriter& out) const = 0;
  virtual bool load_own(SavedReader& in) = 0;

  Course& course() { return course_; }
  const TrainPlan& plan() const { return plan_; }
  Model model_of(std::span<const double> weights) const;

 private:
  void look_at_course(double batch_cost);
  std::string fingerprint() const;

  Course& course_;
  TrainPlan plan_;
  Random random_;  // of the lessons
  std::uint64_t generation_ = 0;
  std::uint64_t steps_ = 0;
  Model best_;
  double best_cost_;
  Curve curve_;
};

/// Shortest first, and nothing else: where every training begins.
std::vector<double> first_weights(std::size_t hidden, Random random);

Result<std::unique_ptr<Trainer>> make_trainer(Course& course, const TrainPlan& plan);
std::unique_ptr<Trainer> make_evolution_trainer(Course& course, const TrainPlan& plan);
std::unique_ptr<Trainer> make_ppo_trainer(Course& course, const TrainPlan& plan);

}  // namespace berth
