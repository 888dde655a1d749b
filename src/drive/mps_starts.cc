#include "drive/mps_starts.h"

#include <utility>

namespace berth {
namespace {

uid_t user_of(const Needs& needs) { return needs.mps - mps_of(0); }

}  // namespace

MpsStarts::MpsStarts(Mps::Owner owner, Host& host, Calls calls)
    : owner_(std::move(owner)), host_(host), calls_(std::move(calls)) {}

Mps& MpsStarts::open() {
  if (mps_ == nullptr) {
    mps_ = std::make_unique<Mps>(owner_);
    host_.watch(mps_->event_fd(), "MPS", [this] { take_events(); });
  }
  return *mps_;
}

Result<void> MpsStarts::settle(Needs& needs, uid_t user) {
  if (needs.mps == 0 || needs.gpus == 0) {
    needs.mps = 0;
    needs.thread_percentage = 0;
    return {};
  }
  needs.mps = mps_of(user);
  return open().check_available();
}

void MpsStarts::launch(const StartJob& start, const DeviceInfo& device, const Needs& needs) {
  const Result<bool> ready = open().use(start.job, device, user_of(needs));
  if (!ready) {
    calls_.failed(start, ready.error().message);
  } else if (*ready) {
    calls_.launch(start);
  } else {
    waiting_.emplace(start.job, start);
  }
}

Result<void> MpsStarts::adopt(JobId running, const DeviceInfo& device, const Needs& needs) {
  const Result<bool> used = open().use(running, device, user_of(needs));
  return used ? Result<void>{} : Failure(used.error());
}

std::optional<StartJob> MpsStarts::drop(JobId job) {
  auto waiting = waiting_.extract(job);
  return waiting ? std::optional(std::move(waiting.mapped())) : std::nullopt;
}

std::vector<StartJob> MpsStarts::drop_all() {
  std::vector<StartJob> dropped;
  for (auto& [job, start] : std::exchange(waiting_, {})) {
    release(job);
    dropped.push_back(std::move(start));
  }
  return dropped;
}

void MpsStarts::release(JobId job) {
  if (mps_ != nullptr) {
    mps_->release(job);
  }
}

void MpsStarts::at_work(JobId job) {
  if (mps_ != nullptr) {
    mps_->at_work(job);
  }
}

void MpsStarts::settle_unused() {
  if (mps_ != nullptr) {
    mps_->settle();
  }
}

void MpsStarts::take_over(std::span<const DeviceInfo> devices) { open().take_over(devices); }

void MpsStarts::finish() {
  if (mps_ != nullptr) {
    mps_->finish();
    take_events();  // what they had still to tell
  }
}

EnvironmentChanges MpsStarts::environment(const DeviceInfo& device, const Needs& needs) const {
  return mps_->environment(device, needs);
}

void MpsStarts::take_events() {
  for (const MpsEvent& event : mps_->take_events()) {
    if (!event.text.empty() && event.kind != MpsEvent::Kind::Failed) {
      host_.inform(event.text);
    }
    for (const JobId job : event.jobs) {
      take(event, job);
    }
  }
}

void MpsStarts::take(const MpsEvent& event, JobId job) {
  switch (event.kind) {
    case MpsEvent::Kind::Ready:
      if (const std::optional<StartJob> start = drop(job)) {
        calls_.launch(*start);
      }
      break;
    case MpsEvent::Kind::Failed:
      if (const std::optional<StartJob> start = drop(job)) {
        calls_.failed(*start, event.text);
      }
      break;
    case MpsEvent::Kind::Died:
      break;  // who waits for it waits for its successor
    case MpsEvent::Kind::NotUsed:
      calls_.not_used(job, event.text);
      break;
  }
}

}  // namespace berth
