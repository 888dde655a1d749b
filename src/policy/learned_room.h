// LearnedRoom: which waiting jobs have room now, and on which devices, for the learned policy. What
// is true of a job is true of all of its kind, so it is found out once for each kind in a decision.
#pragma once

#include <optional>
#include <vector>

#include "core/policy.h"
#include "policy/tight_fit.h"

namespace berth {

class LearnedRoom {
 public:
  /// What a decision finds out about a kind of job.
  struct Kind {
    std::uint64_t decision = 0;  // the last that did
    bool fits = false;
    bool nowhere = false;   // not even one device would take such a job
    bool asked = false;     // whether it is hopeless without trying
    bool hopeless = false;  // nothing can be kept for such a job, unless it has waited for long
    TightFit::Place place;  // where the model chooses the device, and the job fits
  };

  /// `tight`: the model chooses the devices of jobs that share one.
  explicit LearnedRoom(bool tight) : tight_(tight) {}

  void joined(ShapeId shape);

  /// Begins a decision among these jobs.
  void look(const View& view, std::span<const RankedJob> jobs);
  /// Good until the next job joins.
  Kind& kind_of(const View& view, const RankedJob& job) {
    Kind& kind = kinds_[job.shape.value];
    return kind.decision == decision_ ? kind : find_out(kind, view, job);
  }

  /// As far as can be told without a look at the devices.
  static bool may_fit(const View& view, ShapeId shape);
  std::optional<std::vector<DeviceId>> place(const View& view, const RankedJob& job,
                                             std::span<const DeviceId> avoid) const;

 private:
  Kind& find_out(Kind& kind, const View& view, const RankedJob& job);
  bool chooses_device(const View& view, const RankedJob& job) const;

  bool tight_;
  TightFit fit_;
  std::vector<Kind> kinds_;  // by shape
  std::uint64_t decision_ = 0;
  std::optional<Bytes> most_room_;  // on one device, for claims; found when it is asked for
};

}  // namespace berth
