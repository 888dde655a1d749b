// Critic: foretells what the rest of an episode will cost, from a summary of what an agent sees. It
// serves training only: a start counts as good when the schedule then costs less than foretold.
#pragma once

#include <Eigen/Core>
#include <span>

#include "base/random.h"

namespace berth {

class Critic {
 public:
  Critic(std::size_t inputs, std::size_t hidden, Random random);

  Eigen::VectorXd& weights() { return weights_; }
  const Eigen::VectorXd& weights() const { return weights_; }

  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::VectorXd foretell(const Rows& seen) const;
  /// Adds what each weight does to half the mean square of the error.
  void add_gradient(const Rows& seen, const Eigen::VectorXd& truth,
                    Eigen::VectorXd& gradient) const;

 private:
  Eigen::Map<const Rows> kernel() const;
  Rows units(const Rows& seen) const;

  Eigen::Index inputs_;
  Eigen::Index hidden_;
  Eigen::VectorXd weights_;  // of each unit its inputs and offset; outputs; their offset
};

}  // namespace berth
