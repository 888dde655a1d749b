// Energy-aware: jobs start in order of submission as long as the expected draw of all devices stays
// within a budget. What does not fit, into the devices or the budget, is passed over.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "policy/backfill_queue.h"
#include "policy/make.h"

namespace berth {
namespace {

/// What all devices are expected to draw.
double draw_of(const DeviceTable& devices) {
  double draw = 0;
  for (const DeviceSlot& slot : devices.all()) {
    if (!slot.leases.empty()) {
      draw += slot.spec.power.busy;
    } else if (slot.health != DeviceHealth::Removed) {
      draw += slot.spec.power.idle;
    }
  }
  return draw;
}

/// How much more it is with another job on these.
double rise_of(const DeviceTable& devices, std::span<const DeviceId> more) {
  double rise = 0;
  for (const DeviceId id : more) {
    const DeviceSlot& slot = devices[id];
    rise += slot.leases.empty() ? slot.spec.power.busy - slot.spec.power.idle : 0;
  }
  return rise;
}

/// What all devices draw at least while such a job runs.
double least_draw(const DeviceTable& devices, const Needs& needs) {
  double draw = 0;
  std::vector<double> rises;
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    const DeviceSlot& slot = devices[DeviceId{i}];
    draw += slot.health != DeviceHealth::Removed ? slot.spec.power.idle : 0;
    if (devices.fits_when_empty(DeviceId{i}, needs)) {
      rises.push_back(slot.spec.power.busy - slot.spec.power.idle);
    }
  }
  std::sort(rises.begin(), rises.end());
  rises.resize(std::min<std::size_t>(rises.size(), needs.gpus));
  return std::accumulate(rises.begin(), rises.end(), draw);
}

class Energy final : public Policy {
 public:
  explicit Energy(double budget) : budget_(budget) {}

  std::string_view name() const override { return "energy"; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  void joined(const Job& job, const Needs&) override { waiting_.joined(job.shape); }
  void left(const Job& job, const Needs&) override { waiting_.left(job.shape); }

  std::optional<Proposal> propose(const View& view) override {
    waiting_.settle(view.queue());
    const double draw = draw_of(view.devices());
    const Gap gap{.room = static_cast<Amount>(view.devices().idle()) * kWholeShare,
                  .memory = view.devices().most_room()};
    const BackfillEntry* kind = waiting_.shapes().first(gap);
    for (std::size_t left = kMostKinds; kind != nullptr && left > 0; --left) {
      auto devices = view.place(ShapeId{kind->item}, {});
      if (devices && draw + rise_of(view.devices(), *devices) <= budget_) {
        return Proposal{kind->key.job, std::move(*devices)};
      }
      kind = waiting_.shapes().first(kind->key, gap);
    }
    return std::nullopt;
  }

  std::optional<std::string> impossible(const DeviceTable& devices,
                                        const Needs& needs) const override {
    const double draw = needs.gpus == 0 ? 0 : least_draw(devices, needs);
    return draw <= budget_ ? std::nullopt
                           : std::optional(fmt::format(
                                 "needs {}, but with it the GPUs are expected to draw {:.0f} W at "
                                 "least, and they may draw {:.0f} W: raise the power budget",
                                 describe(needs), draw, budget_));
  }

  std::string objection(const View& view, std::span<const DeviceId> devices) const override {
    const double draw = draw_of(view.devices()) + rise_of(view.devices(), devices);
    return draw <= budget_ ? ""
                           : fmt::format(
                                 "with it the GPUs are expected to draw {:.0f} W, and they "
                                 "may draw {:.0f} W",
                                 draw, budget_);
  }

 private:
  double budget_;  // watts
  BackfillQueue waiting_;
};

}  // namespace

std::unique_ptr<Policy> make_energy(double budget) { return std::make_unique<Energy>(budget); }

}  // namespace berth
