#include "train/ppo.h"

#include <algorithm>
#include <cmath>

namespace berth {

PpoLoss ppo_loss(const RankNet& net, const Experience& experience,
                 std::span<const std::size_t> which, const PpoSettings& settings,
                 Eigen::VectorXd* gradient) {
  PpoLoss all;
  const double each = 1 / std::max<double>(static_cast<double>(which.size()), 1);
  for (const std::size_t i : which) {
    const Decision& decision = experience.decisions[i];
    const InputRows rows = experience.rows_of(decision);
    const Eigen::VectorXd logs = log_chances(net.ranks(rows));
    const Eigen::VectorXd chances = logs.array().exp();
    const auto chosen = static_cast<Eigen::Index>(decision.chosen);
    const double moved = logs[chosen] - decision.log_chance;
    const double ratio = std::exp(moved);
    const double bounded = std::clamp(ratio, 1 - settings.clip, 1 + settings.clip);
    const double gain = std::min(ratio * decision.advantage, bounded * decision.advantage);
    const double entropy = -chances.dot(logs);
    all.loss -= each * (gain + settings.entropy * entropy);
    all.entropy += each * entropy;
    all.moved += each * (ratio - 1 - moved);
    if (gradient == nullptr) {
      continue;
    }
    // By the score of each job, which is minus its rank times the sharpness.
    Eigen::VectorXd by_score = settings.entropy * chances.array() * (logs.array() + entropy);
    if (ratio * decision.advantage <= bounded * decision.advantage) {
      by_score += ratio * decision.advantage * chances;
      by_score[chosen] -= ratio * decision.advantage;
    }
    net.add_gradient(rows, -kSharpness * each * by_score, *gradient);
  }
  return all;
}

}  // namespace berth
