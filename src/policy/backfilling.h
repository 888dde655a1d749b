// Backfilling: the common part of the default, of EASY and of policies that choose between owners.
// Jobs stand in the order of OwnerTurns: by their ranks, with each owner set back by what the
// policy holds against the owner.
//
// What fits is started past a job that does not, unless that would delay the first such job: it
// gets a reservation, so that a stream of small jobs cannot keep a large one waiting, or its owner
// from a due share. A later job may take a reserved device only if it is expected to be done in
// time. Where nobody can tell when the devices will be free, waiting GPUs would help no one, so
// nothing is kept; but a job that has waited longer than the patience gets its devices collected
// one by one.
//
// Of an owner's jobs that claim memory, have one priority and came at about the same time, the
// largest that fits goes first: small ones fill the gaps that are left, large ones would find no
// gap later. The same holds for jobs that go past one that does not fit, whenever they came. A
// policy may choose to keep its order instead.
#pragma once

#include "policy/owner_turns.h"
#include "policy/policies.h"
#include "policy/running_ends.h"

namespace berth {

class Backfilling : public Policy, private OwnerTurns::SetBack {
 public:
  explicit Backfilling(BackfillOptions options = {}) : options_(options) {}

  bool by_owner() const final { return true; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  void joined(const Job& job, const Needs& needs) final;
  void left(const Job& job, const Needs& needs) final;
  void started(const Job& job, const Needs& needs, Time now) final;
  void stopped(const Job& job, const Needs& needs, Time now) final;

  PolicyBooks close_books() final;
  bool take_books(const PolicyBooks& books) final;

  std::optional<Proposal> propose(const View& view) final;
  std::optional<Reservation> reservation(const View& view) const final;
  Time next_look(const View& view) const final;

 protected:
  /// The owner joins those who wait; `away`: none of the owner's jobs ran, either.
  virtual void owner_joins(const Job&, bool /*away*/) {}
  /// The job is about to start; `first`: it is the first of its owner.
  virtual void chosen(const Job&, bool /*first*/, Time /*now*/) {}
  virtual void has_started(const Job&, const Needs&, Time /*now*/) {}
  virtual void has_stopped(const Job&, const Needs&, Time /*now*/) {}

  /// What the policy itself notes about owners, see Policy.
  virtual void add_notes(PolicyBooks&) const {}
  virtual bool take_notes(std::span<const std::int64_t> notes) { return notes.empty(); }

 private:
  /// What the first blocked job can expect. It stands for all starts of one moment: each of them
  /// takes what it needs of the spare.
  struct Planned {
    JobId job;
    Time at;
    RunningEnds::Shadow shadow;
  };

  bool is_away(OwnerId owner) const;
  bool impatient(const View& view, const Job& job) const;
  std::optional<Reservation> reserve(const View& view, const Job& job) const;
  Gap gap_behind(const View& view, const Reservation& kept) const;
  Gap gap_in_pool(const View& view, const Job& first);
  std::optional<Proposal> backfill(const View& view);
  std::optional<Proposal> start(const View& view, const OwnerTurns::Found& found,
                                OwnerTurns::Search& search, const Reservation& kept,
                                const Gap& gap);
  bool together(const View& view, const OwnerTurns::Found& a, const OwnerTurns::Found& b) const;
  std::optional<Proposal> fit(const View& view, const OwnerTurns::Found& found,
                              const Reservation& kept, const Gap& gap) const;

  BackfillOptions options_;
  OwnerTurns turns_;
  RunningEnds running_;
  std::map<OwnerId, std::size_t> runs_;  // how many jobs of each owner run
  std::size_t claims_ = 0;               // waiting jobs that claim memory
  std::size_t choosy_ = 0;  // waiting and running jobs for which it matters what devices they get
  Planned planned_;
  JobId blocked_;  // the first that wants devices and found none at the last decision
};

/// The expected use of a job, in GPU-seconds.
double expected_use(const Job& job, const Needs& needs);

}  // namespace berth
