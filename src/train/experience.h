// Experience: the decisions of whole episodes, with what was seen and what came of them. An agent
// that draws its choices makes it: the smaller a job's rank, the likelier it goes next.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "train/critic.h"
#include "train/rank_net.h"

namespace berth {

class Course;
struct Lesson;

/// How much likelier a job is than another: e to the power of this times the difference of ranks.
inline constexpr double kSharpness = 20;

struct Decision {
  std::size_t first = 0;  // row of the first job that was looked at
  std::size_t count = 0;
  std::size_t chosen = 0;  // among those
  double log_chance = 0;   // of the choice, when it was made
  double reward = 0;       // until the next decision
  double advantage = 0;    // how much better the rest went than foretold
  double rest = 0;         // what the critic should have foretold
};

/// What a critic sees: the rest, the means of the sights, and how much of the episode is over.
inline constexpr std::size_t kCriticInputs = kInputs + 1;

struct Experience {
  std::vector<double> inputs;     // kInputs for each row
  std::vector<double> summaries;  // kCriticInputs for each decision
  std::vector<Decision> decisions;
  double cost = 0;  // of all episodes, as a part of what they usually cost

  /// The jobs of one decision.
  InputRows rows_of(const Decision& decision) const;
  /// Those of these decisions.
  Critic::Rows summaries_of(std::span<const std::size_t> which) const;
  void append(Experience&& other);
};

/// Plays a lesson; choices are drawn.
Experience gather(const Course& course, const Lesson& lesson, const RankNet& net, Random random);

/// Fills in advantages (generalised, Schulman et al. 2016) and what the critic should have
/// foretold, for one episode. Rewards are not discounted: an episode ends.
void judge(Experience& episode, const Critic& critic, double lambda);

/// The logarithms of the chances of jobs with these ranks.
Eigen::VectorXd log_chances(const Eigen::VectorXd& ranks);

}  // namespace berth
