#include "policy/learned_room.h"

#include <algorithm>

namespace berth {

void LearnedRoom::joined(ShapeId shape) {
  if (shape.value >= kinds_.size()) {
    kinds_.resize(shape.value + 1);
  }
}

void LearnedRoom::look(const View& view, std::span<const RankedJob> jobs) {
  ++decision_;
  most_room_.reset();
  if (tight_) {
    fit_.look(view.devices(), jobs);
  }
}

/// What ranks depend on must not depend on what was tried before: another policy that goes on from
/// a checkpoint has not tried it.
LearnedRoom::Kind& LearnedRoom::find_out(Kind& kind, const View& view, const RankedJob& job) {
  const Needs& needs = view.queue().needs(job.shape);
  kind = {};
  kind.decision = decision_;
  kind.fits = may_fit(view, job.shape);
  if (needs.gpus > 0 && needs.memory > Bytes{}) {
    most_room_ = most_room_ ? most_room_ : view.devices().most_room();
    kind.nowhere = needs.memory > *most_room_;
  }
  if (kind.fits && kind.nowhere) {
    view.queue().mark_blocked(job.shape, view.devices().freed());
    kind.fits = false;
  }
  if (!kind.fits || needs.any_whole_device()) {
  } else if (chooses_device(view, job)) {
    const auto place = fit_.find(view.devices(), needs, {});
    kind.fits = place.has_value();
    kind.place = place.value_or(TightFit::Place{});
  } else {
    kind.fits = view.has_room(job.shape);
  }
  kind.nowhere = kind.nowhere || (!kind.fits && needs.gpus == 1);
  return kind;
}

bool LearnedRoom::may_fit(const View& view, ShapeId shape) {
  const Bucket& bucket = view.queue().bucket(shape);
  return (!bucket.needs.alone() || bucket.needs.gpus <= view.devices().idle()) &&
         bucket.blocked_at != view.devices().freed();
}

bool LearnedRoom::chooses_device(const View& view, const RankedJob& job) const {
  return tight_ && !job.alone && fit_.knows(view.queue().needs(job.shape));
}

std::optional<std::vector<DeviceId>> LearnedRoom::place(const View& view, const RankedJob& job,
                                                        std::span<const DeviceId> avoid) const {
  if (chooses_device(view, job)) {
    if (const auto tight = fit_.find(view.devices(), view.queue().needs(job.shape), avoid)) {
      return std::vector<DeviceId>{tight->device};
    }
  }
  return view.place(job.shape, avoid);
}

}  // namespace berth
