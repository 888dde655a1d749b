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
  /// Sets what a job claims that is about to be submitted, where that is to be learned.
  void claim(Needs& needs, const Recipe& recipe, const DeviceTable& devices) const;
  /// A job of the scheduler's waits: if its claim is learned, it will be in reclaims() when more is
  /// known.
  void job_waits(JobId job, const Recipe& recipe, const Scheduler& scheduler);

  void learn(const Recipe& recipe, Bytes peak);
  /// A job ran out of memory and would have needed so much.
  void learn_at_least(const Recipe& recipe, Bytes memory);

  /// Waiting jobs that are to claim otherwise than they do. Looks at no more than `most` jobs: to
  /// be called again while behind().
  std::vector<Reclaim> reclaims(const Scheduler& scheduler, std::size_t most);
  bool behind() const { return !changed_.empty(); }

 private:
  /// The waiting jobs of one recipe; some have left. Jobs of one recipe have equally many numbers,
  /// so those of all stand in one row: there may be a million jobs.
  struct Group {
    std::size_t width = 0;
    std::vector<JobId> jobs;
    std::vector<double> numbers;

    std::vector<double> numbers_of(std::size_t at) const;
    /// The last takes its place.
    void remove(std::size_t at);
  };
  void note_change(const std::string& key);
  void drop_those_that_left(const Scheduler& scheduler);

  ClaimBook book_;
  std::unordered_map<std::string, Group> waiting_;  // by recipe
  std::size_t entries_ = 0;                         // in all of them
  std::deque<std::string> changed_;  // recipes of which more is known than was passed on
  std::size_t looked_at_ = 0;        // of the first of them: its waiting jobs up to here
};

}  // namespace berth
