// LengthLearner: learns from ended jobs how long waiting jobs will run, beside Learner, which does
// so for their memory. It is told only about jobs whose users gave no length.
#pragma once

#include <cstdint>
#include <vector>

#include "core/length_book.h"
#include "core/recipe_waiters.h"

namespace berth {

class LengthLearner {
 public:
  const LengthBook& book() const { return book_; }
  /// How long the next such job is expected to run; kForever: unknown. Jobs of a few seconds are
  /// all alike: they run in the order in which they came.
  Duration expected(const Recipe& recipe, std::uint32_t user) const;
  RecipeWaiters& waiters() { return waiters_; }

  void learn(const Recipe& recipe, std::uint32_t user, Duration length) {
    const LengthBook::Changed changed = book_.learn(recipe, user, length);
    if (changed.recipe) {
      waiters_.note_change(recipe.key);
    }
    if (changed.others) {
      waiters_.note_change_of_some();
    }
  }

  /// Nothing is known any more. Jobs that wait keep their lengths until more is known.
  void forget() { book_.forget(); }

  /// Waiting jobs that are expected to run clearly longer or shorter than so far. Looks at no more
  /// than `most` jobs: call it again while behind().
  std::vector<Reestimate> changes(const Scheduler& scheduler, std::size_t most);
  bool behind() const { return waiters_.behind(); }

 private:
  LengthBook book_;
  RecipeWaiters waiters_;
};

}  // namespace berth
