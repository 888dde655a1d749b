#include "core/least_squares.h"

#include <cmath>

namespace berth {
namespace {

/// A column of which less than this is new would get a weight made of rounding errors.
constexpr double kLeastNew = 1e-4;

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
  // Four sums, because an addition that waits for the one before it takes four times as long.
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) {
      sums[j] += a[i + j] * b[i + j];
    }
  }
  for (; i < a.size(); ++i) {
    sums[0] += a[i] * b[i];
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

double remove_part(std::vector<double>& column, std::span<const double> direction) {
  const double part = dot(column, direction);
  for (std::size_t i = 0; i < column.size(); ++i) {
    column[i] -= part * direction[i];
  }
  return part;
}

bool LeastSquares::add(Column column) {
  const double before = std::sqrt(dot(column, column));
  std::vector<double> parts;
  for (const Column& direction : basis_) {
    parts.push_back(remove_part(column, direction));
  }
  const double length = std::sqrt(dot(column, column));
  if (!(length > kLeastNew * before)) {
    return false;
  }
  for (double& value : column) {
    value /= length;
  }
  parts.push_back(length);
  parts_.push_back(std::move(parts));
  aims_.push_back(remove_part(residuals_, column));
  for (std::size_t i = 0; i < column.size(); ++i) {
    leverages_[i] += column[i] * column[i];
  }
  basis_.push_back(std::move(column));
  return true;
}

std::vector<double> LeastSquares::weights() const {
  std::vector<double> weights = aims_;
  for (std::size_t i = weights.size(); i-- > 0;) {
    for (std::size_t j = i + 1; j < weights.size(); ++j) {
      weights[i] -= parts_[j][i] * weights[j];
    }
    weights[i] /= parts_[i][i];
  }
  return weights;
}

double LeastSquares::leverage_of(std::span<const double> row) const {
  std::vector<double> along(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    along[i] = row[i];
    for (std::size_t j = 0; j < i; ++j) {
      along[i] -= parts_[i][j] * along[j];
    }
    along[i] /= parts_[i][i];
  }
  return dot(along, along);
}

}  // namespace berth
