// ByOwner: what policies that choose between owners have in common. Whoever has the lowest score
// goes first with the first of their jobs that fits; who has none that fits is passed over.
#pragma once

#include <map>

#include "core/policy.h"

namespace berth {

class ByOwner : public Policy {
 public:
  bool by_owner() const final { return true; }
  Rank rank(const Job&, const Needs&) override { return 0; }
  std::optional<Proposal> propose(const View& view) override;

 protected:
  /// Asked once for each owner that has waiting jobs.
  virtual double score(OwnerId owner, std::uint32_t weight, const View& view) = 0;
  /// This one goes first.
  virtual void chosen(OwnerId) {}
};

/// What a job is expected to use, in GPU-seconds.
double expected_use(const Job& job, const Needs& needs);

}  // namespace berth
