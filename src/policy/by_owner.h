// ByOwner: the common part of policies that choose between owners. The owner with the lowest score
// goes first, with the first of its jobs that fits. An owner without a job that fits is passed
// over.
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
  /// This owner goes first.
  virtual void chosen(OwnerId) {}
};

/// The expected use of a job, in GPU-seconds.
double expected_use(const Job& job, const Needs& needs);

}  // namespace berth
