#include "policy/learned_wait.h"

#include <algorithm>

namespace berth {
namespace {

std::size_t choosy(const Needs& needs) {
  return needs.gpus > 0 && !needs.any_whole_device() ? 1 : 0;
}

}  // namespace

void LearnedWait::joined(const Needs& needs) {
  choosy_ += choosy(needs);
  for_cpu_ += needs.gpus == 0 ? 1 : 0;
}

void LearnedWait::left(const Job& job, const Needs& needs) {
  choosy_ -= choosy(needs);
  for_cpu_ -= needs.gpus == 0 ? 1 : 0;
  blocked_ = job.id == blocked_ ? JobId{} : blocked_;
}

void LearnedWait::started(const Job& job, const Needs& needs, Time now) {
  running_.add(job, needs, now);
  choosy_ += choosy(needs);
}

void LearnedWait::stopped(const Job& job, const Needs& needs) {
  running_.remove(job);
  choosy_ -= choosy(needs);
}

void LearnedWait::begin() {
  blocked_ = {};
  any_ = false;
  holds_all_ = false;
  kept_.devices.clear();
  length_ = kForever;
  spare_ = std::numeric_limits<Amount>::max();
  known_.forget();
}

bool LearnedWait::nothing_fits(const View& view) const {
  return choosy_ == 0 && view.devices().idle() == 0 &&
         (for_cpu_ == 0 || !view.devices().cpu_free());
}

bool LearnedWait::in_pool(const View& view) const {
  return choosy_ == 0 && view.devices().serving() == view.devices().size();
}

std::optional<Reservation> LearnedWait::keep(const View& view, const RankedJob& job) {
  const bool collect = impatient(view.now(), job.submitted);
  return collect || known_.may_keep(view, view.queue().needs(job.shape), false)
             ? keep_devices(view, view.job(job.key.job), collect)
             : std::nullopt;
}

void LearnedWait::wait_for(const View& view, const RankedJob& job, bool hold) {
  if (job.gpus == 0) {
    return;
  }
  if (in_pool(view)) {
    const Amount idle = static_cast<Amount>(view.devices().idle()) * kWholeShare;
    const Amount wanted = static_cast<Amount>(job.gpus) * kWholeShare;
    const RunningEnds::Shadow shadow = running_.shadow(wanted, idle, view.now());
    if (shadow.when == kNever && !impatient(view.now(), job.submitted)) {
      return;
    }
    length_ = shadow.when == kNever ? Duration{} : shadow.when - view.now();
    spare_ = shadow.when == kNever ? std::max(idle - wanted, Amount{0}) : shadow.spare;
  } else {
    std::optional<Reservation> kept = keep(view, job);
    if (!kept) {
      return;
    }
    length_ = kept->from == kNever ? Duration{} : kept->from - view.now();
    kept_ = std::move(*kept);
  }
  any_ = true;
  blocked_ = job.key.job;
  // Where it matters which devices, only those are held: others may be of no use to this job.
  holds_all_ = hold && kept_.devices.empty();
  if (hold) {
    length_ = Duration{};
    spare_ = 0;
  }
}

std::optional<std::span<const DeviceId>> LearnedWait::avoids(const RankedJob& job) const {
  if (!any_ || job.length <= length_ || job.gpus == 0) {
    return std::span<const DeviceId>{};
  }
  if (job.alone && static_cast<Amount>(job.gpus) * kWholeShare > spare_) {
    return std::nullopt;
  }
  return kept_.devices;
}

std::optional<Reservation> LearnedWait::reservation(const View& view) const {
  if (blocked_ == JobId{}) {
    return std::nullopt;
  }
  const Job& job = view.job(blocked_);
  return keep_devices(view, job, impatient(view.now(), job.submitted));
}

Time LearnedWait::next_look(const View& view) const {
  const Time impatient =
      blocked_ == JobId{} ? kNever : add_saturating(view.job(blocked_).submitted, patience_);
  return impatient > view.now() ? impatient : kNever;
}

}  // namespace berth
