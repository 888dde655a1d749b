// QueueOrder: the order in which a user looks at a queue. What runs comes first, then what waits in
// the order in which it should start, what is held, and what ended, the newest end first. The first
// jobs of a long queue are found without a look at the others. Owned by the loop's thread.
#pragma once

#include <set>
#include <vector>

#include "daemon/desk.h"
#include "daemon/job_reports.h"

namespace berth {

class QueueOrder {
 public:
  QueueOrder(Desk& desk, JobReports& reports) : desk_(desk), reports_(reports) {}

  /// Where a job stands. The smallest place comes first; jobs of equal places are in order of their
  /// numbers, ended jobs the other way round.
  struct Place {
    int group = 0;
    std::int64_t number = 0;
  };
  static constexpr int kEnded = 5;
  Place place(JobId job, JobPhase phase, Time ended);

  /// More are not found at once, because nobody is served meanwhile.
  static constexpr std::size_t kMostAtOnce = 1000;
  /// Whether first() finds the jobs that match. It does if the filter names only states, and either
  /// all ends or none: the store has an index of all ends.
  static bool quick(const JobFilter& filter);
  /// The first `most` jobs in these phases (empty: all).
  Result<std::vector<JobId>> first(const std::vector<JobPhase>& phases, std::size_t most);

 private:
  struct Found {
    std::vector<JobId> jobs;
    std::set<JobId> known;  // the same
    std::size_t most = 0;

    bool full() const { return jobs.size() >= most; }
    /// Unless it is there already.
    void add(JobId job);
  };
  void add_running(Found& found, bool starting, bool running) const;
  void add_expected(Found& found);
  void add_queued(Found& found) const;
  Result<void> add_stored(Found& found, JobQuery query) const;

  Desk& desk_;
  JobReports& reports_;
};

}  // namespace berth
