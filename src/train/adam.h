// Adam (Kingma and Ba, 2015): small steps against a gradient, each weight at a pace of its own.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>

#include "train/saved.h"

namespace berth {

class Adam {
 public:
  explicit Adam(Eigen::Index size)
      : mean_(Eigen::VectorXd::Zero(size)), square_(Eigen::VectorXd::Zero(size)) {}

  void step(Eigen::VectorXd& weights, const Eigen::VectorXd& gradient, double rate) {
    constexpr double kMean = 0.9;
    constexpr double kSquare = 0.999;
    ++steps_;
    mean_ = kMean * mean_ + (1 - kMean) * gradient;
    square_ = kSquare * square_ + (1 - kSquare) * gradient.cwiseAbs2();
    const double count = static_cast<double>(steps_);
    const double scale = std::sqrt(1 - std::pow(kSquare, count)) / (1 - std::pow(kMean, count));
    weights.array() -= rate * scale * mean_.array() / (square_.array().sqrt() + 1e-8);
  }

  void save(SavedWriter& out) const {
    out.whole(steps_);
    out.reals({mean_.data(), static_cast<std::size_t>(mean_.size())});
    out.reals({square_.data(), static_cast<std::size_t>(square_.size())});
  }
  void load(SavedReader& in) {
    steps_ = in.whole();
    in.reals({mean_.data(), static_cast<std::size_t>(mean_.size())});
    in.reals({square_.data(), static_cast<std::size_t>(square_.size())});
  }

 private:
  std::uint64_t steps_ = 0;
  Eigen::VectorXd mean_;
  Eigen::VectorXd square_;
};

}  // namespace berth
