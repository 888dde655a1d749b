// Preemptive: the common part of policies that stop running jobs. At each decision, all running and
// waiting jobs stand in one order. In that order, each job gets what it needs if that is still
// available, and is passed over if not. Running jobs that get nothing are put back.
//
// The order of waiting jobs is the queue's own. Running jobs are few (no more than the devices can
// take), so they are ranked anew each time. Of the waiting jobs, only the first of each bucket is
// looked at, and the next one when that one starts.
#pragma once

#include <set>
#include <vector>

#include "core/policy.h"
#include "policy/pool.h"

namespace berth {

class Preemptive : public Policy {
 public:
  bool preempts() const final { return true; }

  void started(const Job& job, const Needs& needs, Time now) final;
  void stopped(const Job& job, const Needs& needs, Time now) final;
  std::vector<JobId> preempt(const View& view) final;
  std::optional<Proposal> propose(const View& view) final;
  Time next_look(const View& view) const final;

 protected:
  struct Runner {
    Rank rank = 0;
    JobId job;
    ShapeId shape;
    Amount amount = 0;
    std::uint32_t gpus = 0;
    std::uint32_t level = 0;  // see turn_taking.h, also for the last three
    Time since;
    Duration left{};  // expected, at `since`
    Duration done{};  // before `since`
    Time moved = kNever;
    Rank place = 0;
    std::uint64_t lent = 0;
  };

  /// Gives a job that has just started its place among the running jobs.
  virtual void admit(Runner&, const Job&, const Needs&) {}
  /// The rank of the runner now, to be compared with the ranks of waiting jobs.
  virtual Rank rank_now(Runner& runner, Time now) = 0;
  /// When the order of running jobs changes by itself.
  virtual Time next_change() const { return kNever; }
  /// A job has left its devices; if it goes back to the queue, rank() is called next.
  virtual void put_back(const Runner&) {}
  /// Whether a waiting job that does not get what it needs is to be kept in mind.
  virtual bool is_owed(const Job&, Time /*now*/) const { return false; }
  /// The first such job in order has changed; nothing: there is none.
  virtual void first_owed(const std::optional<QueueKey>&) {}
  /// The runner stays on its devices although it stands behind that job.
  virtual void stays_behind(Runner&) {}

  const std::vector<Runner>& runners() const { return runners_; }
  Time decided_at() const { return decided_at_; }

 private:
  struct Candidate {
    QueueKey key;
    ShapeId shape;
    QueueKeys::const_iterator at;
  };
  struct Planned {
    JobId job;
    ShapeId shape;
  };
  void measure(const View& view);
  void rank_runners(Time now);
  void advance(const View& view, const Candidate& candidate);
  std::vector<JobId> plan(const View& view);
  void note_owed(const std::optional<QueueKey>& first);

  std::size_t devices_ = 0;  // whose memory has been looked at
  Bytes device_memory_;
  std::vector<Runner> runners_;  // in order of rank at the last decision, new ones at the end
  std::vector<Planned> planned_;
  std::vector<Candidate> later_;  // a heap: the next jobs of buckets whose first ones start
  Time decided_at_ = kNever;
  bool making_room_ = false;  // jobs were asked to leave at this decision
  /// Shapes for which there was room in the pool, but no devices that fit. Stopping other jobs does
  /// not help these shapes: they wait until a job ends.
  std::set<ShapeId> misfits_;
  bool new_misfit_ = false;
};

}  // namespace berth
