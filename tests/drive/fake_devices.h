// FakeDevices: devices that a test fills with memory, power and faults. A sample is taken when the
// test lets it begin, and handed over when the test lets it come, so that readings are as many and
// as old as a test wants them. The test's thread owns it; sample() is called by the sampler's.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/devices.h"

namespace berth {

class FakeDevices final : public Devices {
 public:
  /// Before readings begin.
  void add(DeviceSpec spec);

  const std::vector<DeviceInfo>& list() const override { return list_; }
  std::vector<DeviceSample> sample() override;
  Result<void> set_power_limit(std::size_t, double) override { return {}; }

  /// What the next sample shows of a device.
  DeviceSample& truth(DeviceId device) { return truth_[device.value]; }

  /// Samples come by themselves, or only when they are let.
  void open(bool open);
  /// Whether a sample was asked for that may not begin yet.
  bool is_asked();
  /// Lets a sample begin, which sees what is true now. False: nobody has asked for one in time.
  bool begin_sample();
  /// Lets it come.
  void end_sample();

 private:
  enum class Stage { Idle, MayBegin, Begun, MayEnd };

  std::vector<DeviceInfo> list_;
  std::vector<DeviceSample> truth_;  // read by sample() between MayBegin and Begun only
  std::mutex mutex_;
  std::condition_variable changed_;
  Stage stage_ = Stage::Idle;
  bool asked_ = false;
  bool open_ = true;
};

}  // namespace berth
