#include "train/rank_net.h"

#include <algorithm>

namespace berth {
namespace {

using TermRows = Eigen::Matrix<double, Eigen::Dynamic, kTerms, Eigen::RowMajor>;

/// Inputs hold all that terms are made of.
TermRows terms_of_rows(const InputRows& inputs) {
  TermRows rows(inputs.rows(), static_cast<Eigen::Index>(kTerms));
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    Sight sight;
    std::copy_n(inputs.row(i).data(), kSights, sight.begin());
    Rest rest;
    rest.waiting = inputs(i, kSights);
    rest.idle = inputs(i, kSights + 1);
    const Terms terms = terms_of(sight, rest);
    std::copy(terms.begin(), terms.end(), rows.row(i).data());
  }
  return rows;
}

}  // namespace

RankNet::RankNet(std::size_t hidden, std::span<const double> weights)
    : hidden_(hidden),
      weights_(Eigen::Map<const Eigen::VectorXd>(weights.data(),
                                                 static_cast<Eigen::Index>(weights.size()))),
      mean_(Eigen::RowVectorXd::Zero(kInputs)),
      spread_(Eigen::RowVectorXd::Ones(kInputs)) {}

void RankNet::normalise(const Eigen::RowVectorXd& mean, const Eigen::RowVectorXd& spread) {
  mean_ = mean;
  spread_ = spread;
}

Eigen::Map<const RankNet::Rows> RankNet::kernel() const {
  return {weights_.data() + kTerms, static_cast<Eigen::Index>(hidden_), kInputs + 1};
}

Eigen::Map<const Eigen::VectorXd> RankNet::outputs() const {
  return {weights_.data() + kTerms + hidden_ * (kInputs + 1), static_cast<Eigen::Index>(hidden_)};
}

InputRows RankNet::normal(const InputRows& inputs) const {
  return (inputs.rowwise() - mean_).array().rowwise() / spread_.array();
}

RankNet::Rows RankNet::units(const InputRows& normal) const {
  const auto each = kernel();
  Rows sums = normal * each.leftCols(kInputs).transpose();
  sums.rowwise() += each.col(kInputs).transpose();
  return sums.array().tanh();
}

Eigen::VectorXd RankNet::ranks(const InputRows& inputs) const {
  Eigen::VectorXd ranks = terms_of_rows(inputs) * weights_.head(kTerms);
  if (hidden_ > 0) {
    ranks += units(normal(inputs)) * outputs();
  }
  return ranks;
}

void RankNet::add_gradient(const InputRows& inputs, const Eigen::VectorXd& pulls,
                           Eigen::VectorXd& gradient) const {
  gradient.head(kTerms) += terms_of_rows(inputs).transpose() * pulls;
  if (hidden_ == 0) {
    return;
  }
  const InputRows rows = normal(inputs);
  const Rows out = units(rows);
  gradient.tail(static_cast<Eigen::Index>(hidden_)) += out.transpose() * pulls;
  const Rows inner =
      (pulls * outputs().transpose()).array() * (1 - out.array().square());  // by row and unit
  Eigen::Map<Rows> kernels(gradient.data() + kTerms, static_cast<Eigen::Index>(hidden_),
                           kInputs + 1);
  kernels.leftCols(kInputs) += inner.transpose() * rows;
  kernels.col(kInputs) += inner.colwise().sum().transpose();
}

std::vector<double> RankNet::plain_weights() const {
  std::vector<double> plain(weights_.data(), weights_.data() + weights_.size());
  Eigen::Map<Rows> each(plain.data() + kTerms, static_cast<Eigen::Index>(hidden_), kInputs + 1);
  for (Eigen::Index unit = 0; unit < each.rows(); ++unit) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      each(unit, k) /= spread_[k];
      each(unit, kInputs) -= each(unit, k) * mean_[k];
    }
  }
  return plain;
}

}  // namespace berth
