// Gradients against finite differences, and training by them.
#include "train/ppo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "rl/model_file.h"
#include "train/trainer.h"

namespace berth {
namespace {

Eigen::VectorXd some_numbers(Eigen::Index count, Random& random, double scale) {
  Eigen::VectorXd numbers(count);
  for (double& each : numbers) {
    each = scale * (2 * random.unit() - 1);
  }
  return numbers;
}

RankNet some_net(std::size_t hidden, Random& random) {
  const Eigen::VectorXd weights =
      some_numbers(static_cast<Eigen::Index>(weights_of(hidden)), random, 0.3);
  RankNet net(hidden, {weights.data(), static_cast<std::size_t>(weights.size())});
  net.normalise(some_numbers(kInputs, random, 1).transpose(),
                (some_numbers(kInputs, random, 0.4).array() + 1).matrix().transpose());
  return net;
}

Experience some_experience(Random& random) {
  Experience made;
  for (const std::size_t count : {1, 3, 7, 2, 12}) {
    Decision& decision = made.decisions.emplace_back();
    decision.first = made.inputs.size() / kInputs;
    decision.count = count;
    decision.chosen = random.below(count);
    decision.log_chance = -std::log(static_cast<double>(count)) + 0.1 * (2 * random.unit() - 1);
    decision.advantage = 2 * random.unit() - 1;
    const Eigen::VectorXd rows =
        some_numbers(static_cast<Eigen::Index>(count * kInputs), random, 0.1);
    made.inputs.insert(made.inputs.end(), rows.begin(), rows.end());
  }
  return made;
}

/// Each entry of a gradient against the difference that a small step makes.
template <class Loss>
void expect_gradient(Eigen::VectorXd& weights, const Eigen::VectorXd& gradient, Loss loss) {
  constexpr double kStep = 1e-6;
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    const double kept = weights[i];
    weights[i] = kept + kStep;
    const double above = loss();
    weights[i] = kept - kStep;
    const double below = loss();
    weights[i] = kept;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-6 + 1e-5 * std::abs(gradient[i]))
        << i;
  }
}

TEST(Ppo, GradientOfTheRankIsThatOfFiniteDifferences) {
  for (const std::size_t hidden : {0, 5}) {
    Random random(3);
    RankNet net = some_net(hidden, random);
    const Experience experience = some_experience(random);
    const std::vector<std::size_t> all = {0, 1, 2, 3, 4};
    PpoSettings settings;
    settings.clip = 10;  // the loss has corners where it is clipped
    settings.entropy = 0.3;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(net.weights().size());
    ppo_loss(net, experience, all, settings, &gradient);
    EXPECT_GT(gradient.norm(), 0.01);
    expect_gradient(net.weights(), gradient,
                    [&] { return ppo_loss(net, experience, all, settings, nullptr).loss; });
  }
}

TEST(Ppo, ClippedChoicesPullNoMore) {
  Random random(5);
  const RankNet net = some_net(2, random);
  Experience experience = some_experience(random);
  const std::vector<std::size_t> third = {2};
  experience.decisions[2].log_chance = -20;  // it has become very much likelier
  experience.decisions[2].advantage = 1;
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(net.weights().size());
  ppo_loss(net, experience, third, {.clip = 0.2, .entropy = 0}, &gradient);
  EXPECT_EQ(gradient.norm(), 0);
  experience.decisions[2].advantage = -1;  // it was bad, so it has gone the wrong way
  ppo_loss(net, experience, third, {.clip = 0.2, .entropy = 0}, &gradient);
  EXPECT_GT(gradient.norm(), 0);
}

TEST(Ppo, GradientOfTheCriticIsThatOfFiniteDifferences) {
  Random random(4);
  Critic critic(6, 4, random);
  critic.weights() += some_numbers(critic.weights().size(), random, 0.2);
  const Eigen::VectorXd numbers = some_numbers(8 * 6, random, 1);
  const Critic::Rows seen = Eigen::Map<const Critic::Rows>(numbers.data(), 8, 6);
  const Eigen::VectorXd truth = some_numbers(8, random, 1);
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(critic.weights().size());
  critic.add_gradient(seen, truth, gradient);
  expect_gradient(critic.weights(), gradient,
                  [&] { return 0.5 * (critic.foretell(seen) - truth).squaredNorm() / 8; });
}

TEST(Ppo, AdvantagesAddUpToWhatCameBeyondWhatWasForetold) {
  Random random(6);
  const Critic critic(kCriticInputs, 3, random);
  Experience episode;
  for (const double reward : {-1.0, -0.5, -2.0}) {
    episode.decisions.emplace_back().reward = reward;
    const Eigen::VectorXd seen = some_numbers(kCriticInputs, random, 1);
    episode.summaries.insert(episode.summaries.end(), seen.begin(), seen.end());
  }
  judge(episode, critic, 1);
  EXPECT_NEAR(episode.decisions[0].rest, -3.5, 1e-12);
  EXPECT_NEAR(episode.decisions[2].rest, -2, 1e-12);
}

/// A model has the normalisation folded in: it ranks as the net does.
TEST(Ppo, ModelsRankAsTheirNetDoes) {
  Random random(7);
  const RankNet net = some_net(5, random);
  Model model;
  model.hidden = 5;
  for (const double weight : net.plain_weights()) {
    model.weights.push_back(static_cast<float>(weight));
  }
  const Experience experience = some_experience(random);
  const InputRows rows = experience.rows_of(experience.decisions[4]);
  const Eigen::VectorXd ranks = net.ranks(rows);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    Sight sight;
    std::copy_n(rows.row(i).data(), kSights, sight.begin());
    Rest rest;
    rest.waiting = rows(i, kSights);
    rest.idle = rows(i, kSights + 1);
    rest.mean_length = rows(i, kSights + 2);
    rest.mean_gpus = rows(i, kSights + 3);
    EXPECT_NEAR(rank_by(model, sight, rest), ranks[i], 1e-5);
  }
}

}  // namespace
}  // namespace berth
