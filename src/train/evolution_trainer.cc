// Trains by evolution: each model of a generation makes all schedules of a few lessons.
#include <algorithm>

#include "train/evolution.h"
#include "train/saved.h"
#include "train/trainer.h"

namespace berth {
namespace {

class EvolutionTrainer final : public Trainer {
 public:
  EvolutionTrainer(Course& course, const TrainPlan& plan)
      : Trainer(course, plan),
        evolution_(first_weights(plan.hidden, Random(plan.seed)), plan.spread, plan.population,
                   plan.seed) {}

 private:
  double learn(std::span<const std::size_t> lessons) override {
    std::vector<Model> models;
    for (const std::vector<double>& weights : evolution_.ask()) {
      models.push_back(model_of(weights));
    }
    const std::vector<double> costs = course().costs(models, lessons);
    evolution_.tell(costs);
    return *std::min_element(costs.begin(), costs.end());
  }

  Model current() const override { return model_of(evolution_.middle()); }

  void save_own(SavedWriter& out) const override { out.text(evolution_.save()); }
  bool load_own(SavedReader& in) override {
    Result<Evolution> evolution = Evolution::load(in.text());
    if (evolution) {
      evolution_ = std::move(*evolution);
    }
    return evolution.has_value();
  }

  Evolution evolution_;
};

}  // namespace

std::unique_ptr<Trainer> make_evolution_trainer(Course& course, const TrainPlan& plan) {
  return std::make_unique<EvolutionTrainer>(course, plan);
}

}  // namespace berth
