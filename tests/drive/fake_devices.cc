#include "drive/fake_devices.h"

namespace berth {
namespace {

constexpr auto kSampleDeadline = std::chrono::seconds(20);

}  // namespace

void FakeDevices::add(DeviceSpec spec) {
  DeviceInfo info;
  info.spec = std::move(spec);
  info.visible = info.spec.name;
  list_.push_back(std::move(info));
  truth_.emplace_back();
  truth_.back().used = Bytes{};
}

std::vector<DeviceSample> FakeDevices::sample() {
  std::unique_lock lock(mutex_);
  asked_ = true;
  changed_.wait(lock, [this] { return open_ || stage_ == Stage::MayBegin; });
  asked_ = false;
  std::vector<DeviceSample> seen = truth_;
  if (open_) {
    return seen;
  }
  stage_ = Stage::Begun;
  changed_.notify_all();
  changed_.wait(lock, [this] { return open_ || stage_ == Stage::MayEnd; });
  stage_ = Stage::Idle;
  return seen;
}

void FakeDevices::open(bool open) {
  const std::lock_guard lock(mutex_);
  open_ = open;
  changed_.notify_all();
}

bool FakeDevices::is_asked() {
  const std::lock_guard lock(mutex_);
  return asked_;
}

bool FakeDevices::begin_sample() {
  std::unique_lock lock(mutex_);
  stage_ = Stage::MayBegin;
  changed_.notify_all();
  return changed_.wait_for(lock, kSampleDeadline, [this] { return stage_ == Stage::Begun; });
}

void FakeDevices::end_sample() {
  const std::lock_guard lock(mutex_);
  stage_ = Stage::MayEnd;
  changed_.notify_all();
}

}  // namespace berth
