// Energy-aware: jobs start in order of submission as long as the expected draw of all devices stays
// within a budget. What does not fit, into the devices or the budget, is passed over.
#include <fmt/format.h>

#include <algorithm>

#include "policy/make.h"

namespace berth {
namespace {

/// What all devices are expected to draw, if there were jobs on `more` as well.
double expected_draw(const DeviceTable& devices, std::span<const DeviceId> more) {
  double draw = 0;
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    const DeviceSlot& slot = devices[DeviceId{i}];
    if (slot.health == DeviceHealth::Removed && slot.leases.empty()) {
      continue;
    }
    const bool busy =
        !slot.leases.empty() || std::find(more.begin(), more.end(), DeviceId{i}) != more.end();
    draw += busy ? slot.spec.power.busy : slot.spec.power.idle;
  }
  return draw;
}

class Energy final : public Policy {
 public:
  explicit Energy(double budget) : budget_(budget) {}

  std::string_view name() const override { return "energy"; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  std::optional<Proposal> propose(const View& view) override {
    for (const Queue::Head& head : view.queue().heads()) {
      auto devices = view.place(head.shape, {});
      if (devices && objection(view, *devices).empty()) {
        return Proposal{head.first.job, std::move(*devices)};
      }
    }
    return std::nullopt;
  }

  std::string objection(const View& view, std::span<const DeviceId> devices) const override {
    const double draw = expected_draw(view.devices(), devices);
    return draw <= budget_ ? ""
                           : fmt::format(
                                 "with it the GPUs are expected to draw {:.0f} W, and they "
                                 "may draw {:.0f} W",
                                 draw, budget_);
  }

 private:
  double budget_;  // watts
};

}  // namespace

std::unique_ptr<Policy> make_energy(double budget) { return std::make_unique<Energy>(budget); }

}  // namespace berth
