// Proximal policy optimisation (Schulman et al. 2017): moves the weights of a rank net towards
// choices after which schedules went better than foretold, but never far from those that made the
// choices.
#pragma once

#include <Eigen/Core>
#include <span>

#include "train/experience.h"

namespace berth {

struct PpoSettings {
  double clip = 0.2;      // a chance is moved by at most this part, up or down
  double entropy = 0.01;  // how much choices that are open are worth
};

struct PpoLoss {
  double loss = 0;     // the mean over the decisions; smaller is better
  double entropy = 0;  // of the choices
  double moved = 0;    // how far the chances have moved (Kullback and Leibler)
};

/// Adds what each weight does to the loss to `gradient`, unless that is null.
PpoLoss ppo_loss(const RankNet& net, const Experience& experience,
                 std::span<const std::size_t> which, const PpoSettings& settings,
                 Eigen::VectorXd* gradient);

}  // namespace berth
