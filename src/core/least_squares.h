// LeastSquares: weights for columns of values so that their sum is nearest to 1 in each row.
// Columns join one at a time, each made orthogonal to those before it.
#pragma once

#include <span>
#include <vector>

namespace berth {

class LeastSquares {
 public:
  using Column = std::vector<double>;

  explicit LeastSquares(std::size_t rows) : residuals_(rows, 1), leverages_(rows, 0) {}

  /// False, and nothing has changed, when the columns before it already tell all of it.
  bool add(Column column);

  std::vector<double> weights() const;
  /// The part of a column that is new, with length 1; columns in order of joining.
  const std::vector<Column>& basis() const { return basis_; }
  const std::vector<double>& residuals() const { return residuals_; }
  /// How much each row has decided its own value: 1 when it alone did.
  const std::vector<double>& leverages() const { return leverages_; }
  /// The same of a row that is not among them.
  double leverage_of(std::span<const double> row) const;

 private:
  std::vector<Column> basis_;
  std::vector<std::vector<double>> parts_;  // of each column in the basis
  std::vector<double> aims_;                // what the rows' ones are in the basis
  std::vector<double> residuals_;
  std::vector<double> leverages_;
};

double dot(std::span<const double> a, std::span<const double> b);
/// Takes from `column` what lies along `direction`, which has length 1. How much that was.
double remove_part(std::vector<double>& column, std::span<const double> direction);

}  // namespace berth
