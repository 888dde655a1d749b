// ClaimBook: how much memory jobs of a recipe have used, and so what the next should claim.
//
// Jobs of one recipe differ in their numbers, and nobody says which of them matter. A number is
// taken to matter until two jobs that differ in it have used about the same: a seed is found not to
// matter by the second job, a batch size stays one that does. A job is known when another has run
// that agrees with it in all numbers that matter.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/recipe.h"

namespace berth {

class ClaimBook {
 public:
  /// What the next such job should claim on each device; nothing where that is not known.
  std::optional<Bytes> claim(const Recipe& recipe) const;

  /// One has ended well, and used at most `peak` on a device. True when claims of jobs of this
  /// recipe may be others from now on.
  bool learn(const Recipe& recipe, Bytes peak);
  /// One would have used at least so much: it ran out of memory. Holds until one ends well.
  bool learn_at_least(const Recipe& recipe, Bytes memory);

 private:
  /// What is known of jobs with exactly these numbers.
  struct Case {
    std::vector<double> numbers;
    std::deque<Bytes> peaks;  // the newest last
    Bytes at_least;

    Bytes claim() const;
  };
  struct Known {
    std::vector<Case> cases;    // the newest last
    std::vector<bool> matters;  // by place among the numbers

    std::optional<Bytes> claim(const std::vector<double>& numbers) const;
    Case& find(const std::vector<double>& numbers);
    void find_what_matters();
  };

  template <class Change>
  bool change(const Recipe& recipe, Change change);

  std::map<std::string, Known> recipes_;
};

}  // namespace berth
