// ClaimBook: how much memory the jobs of a recipe have used, and so how much the next job should
// claim.
//
// Jobs of one recipe differ in their numbers, and the user does not say which numbers matter.
// Numbers are assumed to matter until jobs that differ in those numbers alone have used about the
// same memory. By the second job of a sweep, the seed and the learning rate are known not to
// matter; a batch size continues to matter. A job's claim is known once a job has run that agrees
// with it in all numbers that matter.
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
  /// The memory that the next such job should claim on each device; nothing when unknown.
  std::optional<Bytes> claim(const Recipe& recipe) const;

  /// A job has ended well and used at most `peak` on a device. True when the claims of this
  /// recipe's jobs may be different from now on.
  bool learn(const Recipe& recipe, Bytes peak);
  /// A job ran out of memory and would have used at least this much. Holds until a job ends well.
  bool learn_at_least(const Recipe& recipe, Bytes memory);

 private:
  using Numbers = std::vector<double>;
  /// A bit for each position among the numbers.
  using Places = std::uint64_t;

  /// What is known about jobs with exactly these numbers.
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
