// ClaimBook: how much memory jobs of a recipe have used, and so what the next should claim.
//
// Jobs of one recipe differ in their numbers, and nobody says which of them matter. Numbers are
// taken to matter until jobs that differ in them, and in no others, have used about the same: seed
// and learning rate are found not to matter by the second job of a sweep, a batch size stays one
// that does. A job is known when another has run that agrees with it in all numbers that matter.
#pragma once

#include <cstdint>
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
  using Numbers = std::vector<double>;
  /// A bit for each place among the numbers.
  using Places = std::uint64_t;

  /// What is known of jobs with exactly these numbers.
  struct Case {
    std::deque<Bytes> peaks;  // the newest last
    Bytes at_least;

    Bytes claim() const;
  };
  struct Known {
    std::map<Numbers, Case> cases;
    std::deque<Numbers> order;  // the newest last
    Places matters = ~Places{0};

    std::optional<Bytes> claim(const Numbers& numbers) const;
    Case& find(const Numbers& numbers);
    void find_what_matters();
  };
  static Places difference(const Numbers& a, const Numbers& b);

  template <class Change>
  bool change(const Recipe& recipe, Change change);

  std::map<std::string, Known> recipes_;
};

}  // namespace berth
