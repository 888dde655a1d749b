// RankNet: the kernel of a learned rank (rl/model.h) in a form that can be trained by gradients:
// many jobs at once, in double precision, with what a change of each weight does. Inputs are
// brought to mean 0 and spread 1 first; a model has that folded into its weights.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "rl/model.h"

namespace berth {

/// A job in each row, as inputs_of() describes it.
using InputRows = Eigen::Matrix<double, Eigen::Dynamic, kInputs, Eigen::RowMajor>;

class RankNet {
 public:
  /// `weights` are those of a model with so many hidden units.
  RankNet(std::size_t hidden, std::span<const double> weights);

  std::size_t size() const { return static_cast<std::size_t>(weights_.size()); }
  Eigen::VectorXd& weights() { return weights_; }
  const Eigen::VectorXd& weights() const { return weights_; }

  /// What is subtracted from each input, and what the rest is divided by.
  void normalise(const Eigen::RowVectorXd& mean, const Eigen::RowVectorXd& spread);
  const Eigen::RowVectorXd& mean() const { return mean_; }
  const Eigen::RowVectorXd& spread() const { return spread_; }

  Eigen::VectorXd ranks(const InputRows& inputs) const;
  /// Adds what each weight does to the sum of `pulls` times ranks.
  void add_gradient(const InputRows& inputs, const Eigen::VectorXd& pulls,
                    Eigen::VectorXd& gradient) const;

  /// For a model, which does not normalise.
  std::vector<double> plain_weights() const;

 private:
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Of each hidden unit its inputs, and its offset last.
  Eigen::Map<const Rows> kernel() const;
  Eigen::Map<const Eigen::VectorXd> outputs() const;
  Rows units(const InputRows& normal) const;
  InputRows normal(const InputRows& inputs) const;

  std::size_t hidden_;
  Eigen::VectorXd weights_;
  Eigen::RowVectorXd mean_;
  Eigen::RowVectorXd spread_;
};

}  // namespace berth
