#include "train/experience.h"

#include <numeric>

#include "train/course.h"

namespace berth {
namespace {

class DrawingAgent final : public Agent {
 public:
  DrawingAgent(const RankNet& net, const Lesson& lesson, Random random, Experience& out)
      : net_(net), lesson_(lesson), random_(random), out_(out) {}

  bool sees_devices() const override { return false; }

  Choice act(const Observation& seen) override {
    pay(seen.cost);
    Decision& decision = out_.decisions.emplace_back();
    decision.first = out_.inputs.size() / kInputs;
    decision.count = seen.jobs.size();
    for (const Sight& sight : seen.sights) {
      const Inputs inputs = inputs_of(sight, *seen.rest);
      out_.inputs.insert(out_.inputs.end(), inputs.begin(), inputs.end());
    }
    const InputRows rows = out_.rows_of(decision);
    const Eigen::RowVectorXd means = rows.colwise().mean();
    out_.summaries.insert(out_.summaries.end(), means.data(), means.data() + means.size());
    out_.summaries.push_back(static_cast<double>(out_.decisions.size()) /
                             static_cast<double>(lesson_.workload.jobs.size()));
    const Eigen::VectorXd chances = log_chances(net_.ranks(rows));
    double left = random_.unit();
    Eigen::Index chosen = 0;
    while (chosen + 1 < chances.size() && (left -= std::exp(chances[chosen])) >= 0) {
      ++chosen;
    }
    decision.chosen = static_cast<std::size_t>(chosen);
    decision.log_chance = chances[chosen];
    return {decision.chosen, std::nullopt};
  }

  /// What has come since the last decision is its reward.
  void pay(double cost) {
    if (!out_.decisions.empty()) {
      out_.decisions.back().reward = (paid_ - cost) / lesson_.usual;
    }
    paid_ = cost;
  }

 private:
  const RankNet& net_;
  const Lesson& lesson_;
  Random random_;
  Experience& out_;
  double paid_ = 0;
};

}  // namespace

InputRows Experience::rows_of(const Decision& decision) const {
  return Eigen::Map<const InputRows>(inputs.data() + decision.first * kInputs,
                                     static_cast<Eigen::Index>(decision.count), kInputs);
}

Critic::Rows Experience::summaries_of(std::span<const std::size_t> which) const {
  Critic::Rows rows(static_cast<Eigen::Index>(which.size()), kCriticInputs);
  for (std::size_t i = 0; i < which.size(); ++i) {
    std::copy_n(summaries.data() + which[i] * kCriticInputs, kCriticInputs,
                rows.row(static_cast<Eigen::Index>(i)).data());
  }
  return rows;
}

void Experience::append(Experience&& other) {
  const std::size_t rows = inputs.size() / kInputs;
  inputs.insert(inputs.end(), other.inputs.begin(), other.inputs.end());
  summaries.insert(summaries.end(), other.summaries.begin(), other.summaries.end());
  for (Decision& decision : other.decisions) {
    decision.first += rows;
    decisions.push_back(decision);
  }
  cost += other.cost;
}

Experience gather(const Course& course, const Lesson& lesson, const RankNet& net, Random random) {
  constexpr double kUnfinished = 1e9;
  Experience episode;
  DrawingAgent agent(net, lesson, random, episode);
  const double cost = course.play(lesson, agent).value_or(kUnfinished);
  agent.pay(cost);
  episode.cost = cost / lesson.usual;
  return episode;
}

void judge(Experience& episode, const Critic& critic, double lambda) {
  std::vector<std::size_t> all(episode.decisions.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Eigen::VectorXd foretold = critic.foretell(episode.summaries_of(all));
  double advantage = 0;
  double next = 0;
  for (std::size_t i = episode.decisions.size(); i-- > 0;) {
    Decision& decision = episode.decisions[i];
    const double now = foretold[static_cast<Eigen::Index>(i)];
    advantage = decision.reward + next - now + lambda * advantage;
    decision.advantage = advantage;
    decision.rest = advantage + now;
    next = now;
  }
}

Eigen::VectorXd log_chances(const Eigen::VectorXd& ranks) {
  const Eigen::VectorXd scores = -kSharpness * ranks;
  const double most = scores.maxCoeff();
  return scores.array() - (most + std::log((scores.array() - most).exp().sum()));
}

}  // namespace berth
