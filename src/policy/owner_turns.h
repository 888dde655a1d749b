// OwnerTurns: the waiting jobs of all owners in one order. The jobs of one owner stand in order of
// their ranks; an owner as a whole may be set back behind others by what a policy holds against the
// owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "policy/backfill_queue.h"

namespace berth {

class OwnerTurns {
 public:
  /// How far the jobs of an owner stand behind their ranks at the moment; `first` is the first of
  /// them.
  class SetBack {
   public:
    virtual Rank set_back(const Job& first, const View& view) = 0;

   protected:
    ~SetBack() = default;
  };

  void joined(const Job& job);
  void left(const Job& job);
  /// What is held against this owner has changed.
  void touch(OwnerId owner) { changed_.insert(owner); }

  /// Brings the order up to date. Call it before a search. Where many owners wait, those that
  /// nothing has happened to are brought up to date a few at a time.
  void settle(const View& view, SetBack& set_back);
  /// All places are found anew by the next settle().
  void unsettle();

  bool waits(OwnerId owner) const;
  /// Whether the job is the first of its owner.
  bool is_first(const Job& job) const;
  const BackfillQueue& queue_of(OwnerId owner) const { return owners_.at(owner).waiting; }

  struct Found {
    OwnerId owner;
    BackfillQueue::Waiting job;
  };
  /// Meets the jobs that a gap takes in order, but only the first of each shape. Valid until
  /// anything changes.
  class Search {
   public:
    Search(const OwnerTurns& turns, const Queue& queue, const Gap& gap)
        : turns_(&turns), queue_(&queue), gap_(gap) {}
    std::optional<Found> next();

   private:
    struct Pending {
      QueueKey key;  // in the order of all
      Found found;
      BackfillQueue::Search more;
    };
    static bool stands_behind(const Pending& a, const Pending& b) { return b.key < a.key; }
    void put(OwnerId owner, const BackfillQueue::Waiting& job, BackfillQueue::Search more);
    Found hand_out(OwnerId owner, const BackfillQueue::Waiting& job, BackfillQueue::Search more);

    const OwnerTurns* turns_;
    const Queue* queue_;
    Gap gap_;
    /// Where the job that was handed out last came from: more is looked for when it is asked for.
    std::optional<std::pair<OwnerId, BackfillQueue::Search>> last_;
    std::optional<QueueKey> met_;   // the place of the last owner that was looked at
    std::vector<Pending> pending_;  // a heap: the next job of each owner looked at
  };

 private:
  struct Owner {
    BackfillQueue waiting;
    Rank set_back = 0;
    std::uint64_t settled = 0;            // which settling that was
    std::optional<BackfillEntry> listed;  // in all_
  };

  void list(OwnerId id, Owner& owner, const View& view, SetBack& set_back);
  void drop(OwnerId id, Owner& owner);

  std::map<OwnerId, Owner> owners_;  // who have waiting jobs
  std::set<std::pair<std::uint64_t, OwnerId>>
      by_age_;  // the listed ones, by when they were settled
  std::set<OwnerId> changed_;
  BackfillTree all_;  // one entry for each owner: the place of the first job
  std::uint64_t settlings_ = 0;
};

}  // namespace berth
