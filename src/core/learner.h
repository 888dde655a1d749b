// Learner: learns from ended jobs how much memory waiting jobs need. The drivers tell it about
// both, and pass its results on to the scheduler.
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
  /// `risk`: how often a job may use more than it claims.
  explicit Learner(double risk = kUsualOomRisk) : book_(risk) {}

  /// Sets the claim of a job that is about to be submitted, if that claim is to be learned.
  void claim(Needs& needs, const Recipe& recipe, const DeviceTable& devices) const;
  PeakOutlook outlook(const Recipe& recipe) const { return book_.outlook(recipe); }
  double risk() const { return book_.risk(); }
  /// A job of the scheduler waits. If its claim is learned, reclaims() will return the job when
  /// more is known.
  void job_waits(JobId job, const Recipe& recipe, const Scheduler& scheduler);

  void learn(const Recipe& recipe, Bytes peak);
  /// A job ran out of memory and would have needed this much.
  void learn_at_least(const Recipe& recipe, Bytes memory);

  /// Nothing is known any more. What is learned next may be all that was known, or less: waiting
  /// jobs get the claims that follow from it, or none.
  void forget();
  /// Waiting jobs may have claims that other rules gave them: they get those that follow now.
  void reconsider();

  /// Waiting jobs whose claims are to change. Looks at no more than `most` jobs: call it again
  /// while behind().
  std::vector<Reclaim> reclaims(const Scheduler& scheduler, std::size_t most);
  bool behind() const { return !changed_.empty(); }

 private:
  /// The waiting jobs of one recipe, including some that have left. Jobs of one recipe have equally
  /// many numbers, so one vector holds the numbers of all jobs: there may be a million jobs.
  struct Group {
    std::size_t width = 0;
    std::vector<JobId> jobs;
    std::vector<double> numbers;
    bool changed = false;  // it is in changed_
    bool forgot = false;   // claims may have become unknown

    std::vector<double> numbers_of(std::size_t at) const;
    /// The last job takes its place.
    void remove(std::size_t at);
  };
  void note_change(const std::string& key);
  void drop_those_that_left(const Scheduler& scheduler);

  ClaimBook book_;
  std::unordered_map<std::string, Group> waiting_;  // by recipe
  std::size_t entries_ = 0;                         // in all groups
  std::deque<std::string> changed_;                 // recipes with more known than was passed on
  std::size_t looked_at_ = 0;  // in the first of these: waiting jobs checked so far
};

}  // namespace berth
