#include "train/critic.h"

#include <cmath>

namespace berth {

Critic::Critic(std::size_t inputs, std::size_t hidden, Random random)
    : inputs_(static_cast<Eigen::Index>(inputs)),
      hidden_(static_cast<Eigen::Index>(hidden)),
      weights_(Eigen::VectorXd::Zero(hidden_ * (inputs_ + 2) + 1)) {
  for (Eigen::Index i = 0; i < hidden_ * (inputs_ + 1); ++i) {
    weights_[i] = (2 * random.unit() - 1) / std::sqrt(static_cast<double>(inputs_));
  }
}

Eigen::Map<const Critic::Rows> Critic::kernel() const {
  return {weights_.data(), hidden_, inputs_ + 1};
}

Critic::Rows Critic::units(const Rows& seen) const {
  Rows sums = seen * kernel().leftCols(inputs_).transpose();
  sums.rowwise() += kernel().col(inputs_).transpose();
  return sums.array().tanh();
}

Eigen::VectorXd Critic::foretell(const Rows& seen) const {
  const Eigen::VectorXd sums = units(seen) * weights_.segment(hidden_ * (inputs_ + 1), hidden_);
  return sums.array() + weights_[weights_.size() - 1];
}

void Critic::add_gradient(const Rows& seen, const Eigen::VectorXd& truth,
                          Eigen::VectorXd& gradient) const {
  const Rows out = units(seen);
  const auto outputs = weights_.segment(hidden_ * (inputs_ + 1), hidden_);
  const Eigen::VectorXd foretold = (out * outputs).array() + weights_[weights_.size() - 1];
  const Eigen::VectorXd errors = (foretold - truth) / static_cast<double>(seen.rows());
  gradient.segment(hidden_ * (inputs_ + 1), hidden_) += out.transpose() * errors;
  gradient[gradient.size() - 1] += errors.sum();
  const Rows inner = (errors * outputs.transpose()).array() * (1 - out.array().square());
  Eigen::Map<Rows> kernels(gradient.data(), hidden_, inputs_ + 1);
  kernels.leftCols(inputs_) += inner.transpose() * seen;
  kernels.col(inputs_) += inner.colwise().sum().transpose();
}

}  // namespace berth
