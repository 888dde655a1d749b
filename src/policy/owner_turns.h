// OwnerTurns: the waiting jobs of all owners in one order, in which no owner is served at the
// expense of another.
//
// The jobs of one owner stand in order of their ranks. Between owners, two things count besides the
// rank of an owner's first job. An owner's queue counts from when it was last served: who has
// submitted a thousand jobs at once has waited for the first of them only. And an owner is set back
// by the time for which they have had the whole machine lately, over their weight.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "policy/backfill_queue.h"
#include "policy/decayed_use.h"
#include "policy/window_order.h"

namespace berth {

class OwnerTurns {
 public:
  OwnerTurns(WindowOrder order, Duration half_life) : order_(order), use_(half_life) {}

  void joined(const Job& job, const Measures& measures);
  void left(const Job& job);
  void started(const Job& job, const Needs& needs, Time now);
  void stopped(const Job& job, const Needs& needs, Time now);

  /// Brings the order up to date. Call it before a search. Where very many owners wait, those that
  /// nothing has happened to are brought up to date little by little.
  void settle(const View& view);
  /// This job is about to start: if it is the first of its owner, the owner is served now.
  void serve(const Job& job, Time now);

  /// For a checkpoint, see Policy.
  PolicyBooks close_books();
  bool take_books(std::span<const std::int64_t> books);

  const BackfillQueue& queue_of(OwnerId owner) const { return owners_.at(owner).waiting; }

  struct Found {
    OwnerId owner;
    BackfillQueue::Waiting job;
  };
  /// Meets the jobs that a gap takes in order, but only the first of each shape. Valid until
  /// anything changes.
  class Search {
   public:
    Search(const OwnerTurns& turns, const Gap& gap) : turns_(&turns), gap_(gap) {}
    std::optional<Found> next();

   private:
    struct Pending {
      QueueKey key;  // in the order of all
      Found found;
      BackfillQueue::Search more;
    };
    static bool stands_behind(const Pending& a, const Pending& b) { return b.key < a.key; }
    void add(OwnerId owner, BackfillQueue::Search search);

    const OwnerTurns* turns_;
    Gap gap_;
    std::optional<QueueKey> met_;   // the place of the last owner that was looked at
    std::vector<Pending> pending_;  // a heap: the next job of each owner looked at
  };

 private:
  struct Owner {
    BackfillQueue waiting;
    Rank served = 0;    // when the owner's first job started last
    Rank set_back = 0;  // how far the owner's jobs stand behind their ranks
    Time settled = Time::min();
    std::optional<BackfillTree::Entry> listed;  // in all_
  };

  void list(OwnerId id, Owner& owner, const View& view);
  void drop(OwnerId id, Owner& owner);

  WindowOrder order_;
  DecayedUse use_;
  std::map<OwnerId, Owner> owners_;            // who have waiting jobs
  std::set<std::pair<Time, OwnerId>> by_age_;  // by when they were settled
  std::set<OwnerId> changed_;
  BackfillTree all_;  // one entry for each owner: the place of the first job
};

}  // namespace berth
