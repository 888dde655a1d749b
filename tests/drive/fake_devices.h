// FakeDevices: devices whose memory use, power and faults a test sets. The test decides when a
// sample begins and when it is handed over, so that readings are as many and as old as the test
// wants. The test's thread owns the object. The sampler's thread calls sample().
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/devices.h"

namespace berth {

class FakeDevices final : public Devices {
 public:
  /// Only before readings begin.
  void add(DeviceSpec spec);

  const std::vector<DeviceInfo>& list() const override { return list_; }
  std::vector<DeviceSample> sample() override;
  Result<void> set_power_limit(std::size_t, double) override { return {}; }

  /// What the next sample shows of a device.
  DeviceSample& truth(DeviceId device) { return truth_[device.value]; }

  /// True: samples come by themselves. False: they come only when the test lets them.
  void open(bool open);
  /// Whether a requested sample waits for permission to begin.
  bool is_asked();
  /// Lets a sample begin, which sees the current truth. False if no sample was requested in time.
  bool begin_sample();
  /// Lets the sample be handed over.
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
