// OwnerPasses: the common part of stride and lottery. Each owner has a pass, which every start
// moves on; the lowest goes first.
#pragma once

#include <cmath>
#include <map>

#include "policy/backfilling.h"
#include "policy/owner_books.h"

namespace berth {

class OwnerPasses : public Backfilling {
 protected:
  /// How far a start moves the owner's pass on, in GPU-seconds of weight 1.
  virtual double step(const Job& job, const Needs& needs) = 0;

  void add_notes(PolicyBooks& books) const override {
    books.push_back(bits_of(now_));
    add_owners<1>(books, pass_, [](double pass) { return std::array{bits_of(pass)}; });
  }
  bool take_notes(std::span<const std::int64_t> notes) override {
    now_ = notes.empty() ? 0 : from_bits(notes[0]);
    return !notes.empty() &&
           take_owners<1>(notes.subspan(1), pass_, [](auto own) { return from_bits(own[0]); });
  }

 private:
  Rank set_back(const Job& first, const View&) final {
    return std::llround(pass_[first.owner] * 1e6);
  }

  /// Who was away has saved nothing up: the owner joins where the others are. Who merely waits for
  /// devices was not away.
  void owner_joins(const Job& job, bool away) final {
    double& pass = pass_[job.owner];
    pass = away ? std::max(pass, now_) : pass;
  }
  void chosen(const Job& job, bool, Time) final { now_ = std::max(now_, pass_[job.owner]); }
  void has_started(const Job& job, const Needs& needs, Time) final {
    pass_[job.owner] += step(job, needs);
  }

  std::map<OwnerId, double> pass_;
  double now_ = 0;  // the pass of the last one that was chosen
};

}  // namespace berth
