// Learner: what ended jobs teach about the memory of those that wait. The drivers tell it of both,
// and pass on to the scheduler what it says.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/claim_book.h"
#include "core/scheduler.h"

namespace berth {

class Learner {
 public:
  /// What a job claims that is about to be submitted; 0: nobody knows.
  Bytes claim(const Recipe& recipe) const { return book_.claim(recipe).value_or(Bytes{}); }
  /// A job waits whose claim is learned: it will be in reclaims() when more is known.
  void job_waits(JobId job, Recipe recipe);

  void learn(const Recipe& recipe, Bytes peak);
  /// A job ran out of memory and would have needed so much.
  void learn_at_least(const Recipe& recipe, Bytes memory);

  /// Waiting jobs that are to claim otherwise than they do. Looks at no more than `most` jobs: to
  /// be called again while behind().
  std::vector<Reclaim> reclaims(const Scheduler& scheduler, std::size_t most);
  bool behind() const { return !changed_.empty(); }

 private:
  struct Waiting {
    JobId job;
    std::vector<double> numbers;
  };
  void note_change(const std::string& key);

  ClaimBook book_;
  std::unordered_map<std::string, std::vector<Waiting>> waiting_;  // by recipe; some have left
  std::deque<std::string> changed_;  // recipes of which more is known than was passed on
  std::size_t looked_at_ = 0;        // of the first of them: its waiting jobs up to here
};

}  // namespace berth
