// Energy-aware: jobs start in order of submission as long as the expected draw of all devices stays
// within a budget. What does not fit, into the devices or the budget, is passed over.
#include "policy/make.h"

namespace berth {
namespace {

class Energy final : public Policy {
 public:
  explicit Energy(PowerOptions power) : power_(std::move(power)), jobs_on_(power_.devices.size()) {
    for (const DevicePower& device : power_.devices) {
      draw_ += device.idle;
    }
  }

  std::string_view name() const override { return "energy"; }
  Rank rank(const Job&, const Needs&) override { return 0; }

  void started(const Job& job, const Needs&, Time) override {
    for (const DeviceId device : *job.lease()) {
      if (known(device) && jobs_on_[device.value]++ == 0) {
        draw_ += rise(device);
      }
    }
  }
  void stopped(const Job& job, const Needs&, Time) override {
    for (const DeviceId device : *job.lease()) {
      if (known(device) && --jobs_on_[device.value] == 0) {
        draw_ -= rise(device);
      }
    }
  }

  std::optional<Proposal> propose(const View& view) override {
    for (const Queue::Head& head : view.queue().heads()) {
      auto devices = view.place(head.shape, {});
      if (devices && draw_with(*devices) <= power_.budget) {
        return Proposal{head.first.job, std::move(*devices)};
      }
    }
    return std::nullopt;
  }

 private:
  bool known(DeviceId device) const { return device.value < jobs_on_.size(); }
  double rise(DeviceId device) const {
    return power_.devices[device.value].busy - power_.devices[device.value].idle;
  }
  double draw_with(const std::vector<DeviceId>& devices) const {
    double draw = draw_;
    for (const DeviceId device : devices) {
      draw += known(device) && jobs_on_[device.value] == 0 ? rise(device) : 0;
    }
    return draw;
  }

  PowerOptions power_;
  std::vector<std::uint32_t> jobs_on_;
  double draw_ = 0;  // watts
};

}  // namespace

std::unique_ptr<Policy> make_energy(const PowerOptions& power) {
  return std::make_unique<Energy>(power);
}

}  // namespace berth
