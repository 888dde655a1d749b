// Preemptive: the common part of policies that stop running jobs. At each decision, all running and
// waiting jobs stand in one order. In that order, each job gets what it needs if that is still
// available, and is passed over if not. Running jobs that get nothing are put back.
//
// The order of waiting jobs is the queue's own. Running jobs are few (no more than the devices can
// take), so they are ranked anew each time. Of the waiting jobs, only those are looked at for which
// there is room, which a tree of their kinds finds, and the first that is owed some.
#pragma once

#include <set>
#include <vector>

#include "core/policy.h"
#include "policy/kinds.h"
#include "policy/pool.h"

namespace berth {

class Preemptive : public Policy {
 public:
  bool preempts() const final { return true; }

  void joined(const Job& job, const Needs&) final { kinds_.touch(job.shape); }
  void left(const Job& job, const Needs&) final { kinds_.touch(job.shape); }
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
  /// From when on a waiting job that does not get what it needs is to be kept in mind.
  virtual Time owed_from(const Job&) const { return kNever; }
  /// The first such job in order has changed; nothing: there is none.
  virtual void first_owed(const std::optional<QueueKey>&) {}
  /// The runner stays on its devices although it stands behind that job.
  virtual void stays_behind(Runner&) {}

  const std::vector<Runner>& runners() const { return runners_; }
  Time decided_at() const { return decided_at_; }

 private:
  /// Of kinds of waiting job.
  struct Wants {
    Amount least = 0;
    Amount most = 0;
    Time owed_from;  // of the first job

    friend bool operator==(const Wants&, const Wants&) = default;
    friend Wants least_of(const Wants& a, const Wants& b) {
      return {std::min(a.least, b.least), std::max(a.most, b.most),
              std::min(a.owed_from, b.owed_from)};
    }
  };
  struct Planned {
    JobId job;
    ShapeId shape;
  };
  class Plan;

  void measure(const View& view);
  void settle(const View& view);
  void rank_runners(Time now);
  std::vector<JobId> plan(const View& view);
  void note_owed(const std::optional<QueueKey>& first);

  std::size_t devices_ = 0;  // whose memory has been looked at
  Bytes device_memory_;
  std::vector<Runner> runners_;  // in order of rank at the last decision, new ones at the end
  Kinds<Wants> kinds_;
  std::vector<Planned> planned_;
  Time decided_at_ = kNever;
  bool making_room_ = false;  // jobs were asked to leave at this decision
  /// Shapes for which there was room in the pool, but no devices that fit. Stopping other jobs does
  /// not help these shapes: they wait until a job ends.
  std::set<ShapeId> misfits_;
  bool new_misfit_ = false;
};

}  // namespace berth
