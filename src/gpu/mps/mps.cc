#include "gpu/mps/mps.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "gpu/locks/lock_folder.h"

namespace berth {
namespace {

/// finish() looks so often, even when nothing has come.
constexpr auto kLookAgain = std::chrono::milliseconds(250);

}  // namespace

Mps::Mps(Owner owner) : owner_(std::move(owner)) { waits_.watch(users_.event_fd()); }

Result<void> Mps::check_available() {
  if (!program_.empty()) {
    return {};
  }
  const Result<std::string> found = find_mps_program();
  if (!found) {
    return Failure(found.error());
  }
  program_ = *found;
  return {};
}

MpsPlace Mps::place_for(const DeviceInfo& device, uid_t user) const {
  return {mps_folder(user, owner_.identity, lock_key(device)), device.visible, user, owner_.mark,
          std::nullopt};
}

EnvironmentChanges Mps::environment(const DeviceInfo& device, const Needs& needs) const {
  return mps_environment(place_for(device, needs.mps - mps_of(0)), device, needs);
}

MpsKeeper& Mps::keeper_for(MpsPlace place, const DeviceInfo& device, bool seen) {
  const std::string folder = place.folder;
  return keepers_
      .try_emplace(folder, MpsDaemon(std::move(place), program_, waits_),
                   MpsJobs(device.spec.name, seen, events_), users_)
      .first->second;
}

MpsKeeper* Mps::keeper_of(JobId job) {
  const auto found = std::find_if(keepers_.begin(), keepers_.end(), [&](const auto& keeper) {
    return keeper.second.jobs().contains(job);
  });
  return found == keepers_.end() ? nullptr : &found->second;
}

Result<bool> Mps::use(JobId job, const DeviceInfo& device, uid_t user) {
  if (device.family == DeviceFamily::Amd) {
    return fail(ErrorCode::Usage,
                fmt::format("MPS is for NVIDIA's devices, which GPU {} is not: omit --mps",
                            device.spec.name));
  }
  if (const Result<void> available = check_available(); !available) {
    return Failure(available.error());
  }
  MpsKeeper& keeper =
      keeper_for(place_for(device, user), device, device.family != DeviceFamily::Trusted);
  if (keeper.use(job)) {
    return true;
  }
  set_timer();
  return false;
}

void Mps::release(JobId job) {
  if (MpsKeeper* keeper = keeper_of(job)) {
    keeper->jobs().release(job);
  }
}

void Mps::at_work(JobId job) {
  if (MpsKeeper* keeper = keeper_of(job)) {
    keeper->jobs().at_work(job);
    keeper->advance();
    set_timer();
  }
}

void Mps::settle() {
  if (keepers_.empty()) {
    return;
  }
  for (auto& [folder, keeper] : keepers_) {
    keeper.advance();
  }
  std::erase_if(keepers_, [](const auto& entry) { return entry.second.is_over(); });
  set_timer();
}

void Mps::take_over(std::span<const DeviceInfo> devices) {
  (void)check_available().has_value();  // else they are not asked to quit, but made to
  for (const uid_t user : mps_users()) {
    for (const DeviceInfo& device : devices) {
      MpsPlace place = place_for(device, user);
      if (!keepers_.contains(place.folder) && place_exists(place)) {
        keeper_for(std::move(place), device, false).expect_leftover();
      }
    }
  }
  settle();
}

void Mps::finish() {
  const Clock::time_point begun = Clock::now();
  settle();
  const auto busy = [&] {
    return std::any_of(keepers_.begin(), keepers_.end(), [&](const auto& entry) {
      const MpsKeeper& keeper = entry.second;
      return keeper.jobs().empty() && Clock::now() - begun < keeper.quit_patience();
    });
  };
  while (busy()) {
    pollfd ready{waits_.event_fd(), POLLIN, 0};
    (void)::poll(&ready, 1, static_cast<int>(kLookAgain.count()));
    look();
    settle();
  }
}

void Mps::look() {
  const bool news = waits_.clear();
  users_.clear_event();
  for (auto& [folder, keeper] : keepers_) {
    keeper.look(news);
  }
}

std::vector<MpsEvent> Mps::take_events() {
  look();
  set_timer();
  return std::exchange(events_, {});
}

void Mps::set_timer() {
  Clock::time_point next = events_.empty() ? Clock::time_point::max() : Clock::now();
  for (const auto& [folder, keeper] : keepers_) {
    next = std::min(next, keeper.wake_at());
  }
  waits_.wake_at(next);
}

}  // namespace berth
