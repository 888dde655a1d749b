// Evolution: looks for weights with a small cost, knowing nothing but the cost of those it has
// tried (CMA-ES, Hansen and Ostermeier 2001). Each generation draws weights around the best known
// ones; the better half moves the middle, the spread and the direction of the next draw. It suits
// costs that are known only when a whole schedule is done, such as the mean slowdown.
//
// The same seed draws the same weights; a saved state continues exactly where it was.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

class Evolution {
 public:
  /// Begins around `middle` with this spread. `population`: draws in each generation.
  Evolution(std::span<const double> middle, double spread, std::size_t population,
            std::uint64_t seed);
  Evolution(Evolution&&) noexcept;
  Evolution& operator=(Evolution&&) noexcept;
  ~Evolution();

  /// The weights to try next, `population` of them.
  const std::vector<std::vector<double>>& ask();
  /// What they cost, in the same order.
  void tell(std::span<const double> costs);

  /// The middle of the next draw: better on the whole than any single draw.
  std::vector<double> middle() const;
  double spread() const;
  std::uint64_t generation() const;

  /// All of it as text, for a checkpoint; each number by its bits.
  std::string save() const;
  static Result<Evolution> load(std::string_view text);

 private:
  struct State;
  explicit Evolution(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace berth
