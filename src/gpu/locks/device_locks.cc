#include "gpu/locks/device_locks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "gpu/trusted.h"

namespace berth {
namespace {

using std::chrono::milliseconds;

// After an error of the file system, and while others are in the way without a lease.
constexpr milliseconds kFirstPatience{1000};
constexpr milliseconds kMostPatience{30'000};
constexpr milliseconds kFirstPatienceWithRivals{10};
constexpr milliseconds kMostPatienceWithRivals{1000};
// Somebody who leases a device and gives it back, over and over, is not to keep us busy with it.
constexpr std::uint32_t kQuickRefusals = 8;
constexpr milliseconds kMostPutOff{1000};
constexpr std::chrono::seconds kForgetRefusals{5};
constexpr std::chrono::seconds kLookForRemoved{1};
// No longer, because an owner that is stopped hears no wish.
constexpr milliseconds kLongestKept{5000};

int lock_file(int file, int how) {
  while (::flock(file, how) != 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<std::unique_ptr<DeviceLocks>> DeviceLocks::open(Owner owner,
                                                       std::span<const DeviceInfo> devices) {
  std::unique_ptr<DeviceLocks> locks(new DeviceLocks);
  locks->root_ = lock_root();
  locks->signature_ = fmt::format("{}-{:016x}", escape_file_name(owner.kind),
                                  owner.identity.empty() ? 0 : key_hash(owner.identity));
  locks->owner_ = std::move(owner);
  if (const char* leases = std::getenv("BERTH_LEASES"); leases != nullptr) {
    locks->inherited_ = leases;
    std::istringstream paths(leases);
    for (std::string path; std::getline(paths, path, ':');) {
      locks->kin_.insert(std::move(path));
    }
  }
  Result<std::unique_ptr<LockWaits>> waits = LockWaits::make();
  if (!waits) {
    return Failure(waits.error());
  }
  locks->waits_ = std::move(*waits);
  if (locks->owner_.keeps) {
    locks->wishes_ = std::make_unique<LockWishes>();
    locks->waits_->include(locks->wishes_->event_fd());
  }
  if (const Result<void> opened = locks->open_folder(); !opened) {
    return Failure(opened.error());
  }
  locks->extend(devices);
  return locks;
}

void DeviceLocks::extend(std::span<const DeviceInfo> devices) {
  for (const DeviceInfo& slot : devices.subspan(slots_.size())) {
    slots_.emplace_back();
    for (const DeviceInfo& device : devices_of_slot(slot)) {
      slots_.back().places.push_back(place_of(lock_key(device), device.spec.name));
    }
  }
}

std::size_t DeviceLocks::place_of(const std::string& key, std::string_view name) {
  const auto same = std::find_if(places_.begin(), places_.end(),
                                 [&](const Place& place) { return place.key == key; });
  const auto index = static_cast<std::size_t>(same - places_.begin());
  if (same == places_.end()) {
    Place place;
    place.key = key;
    place.prefix = lock_prefix(key);
    place.name = name;
    place.visited = owner_.identity.empty();
    places_.push_back(std::move(place));
  }
  return index;
}

DeviceLocks::~DeviceLocks() {
  for (Place& place : places_) {
    // Other processes of an owner that can come back may still use the device: then the file stays
    // for them.
    if (place.lock &&
        (owner_.identity.empty() || lock_file(place.lock.get(), LOCK_EX | LOCK_NB) == 0)) {
      drop(place);
    }
  }
}

std::vector<DeviceLocks::Obstacle> DeviceLocks::try_acquire(std::span<const DeviceId> devices) {
  // In one order everywhere: of two berths that want the same devices, one gets all of them.
  std::vector<std::size_t> wanted;
  for (const DeviceId device : devices) {
    const Slot& slot = slots_[device.value];
    if (!slot.held) {
      wanted.insert(wanted.end(), slot.places.begin(), slot.places.end());
    }
  }
  std::sort(wanted.begin(), wanted.end(),
            [&](std::size_t a, std::size_t b) { return places_[a].key < places_[b].key; });
  std::vector<Obstacle> obstacles;
  for (const std::size_t place : wanted) {
    if (std::optional<Obstacle> obstacle = acquire(place)) {
      for (const DeviceId same : slots_of(place)) {
        obstacle->device = same;
        obstacles.push_back(*obstacle);
      }
      break;
    }
  }
  if (!obstacles.empty()) {
    for (const std::size_t place : wanted) {
      if (places_[place].lock && places_[place].slots_held == 0) {
        drop(places_[place]);
      }
    }
    return obstacles;
  }
  for (const DeviceId device : devices) {
    Slot& slot = slots_[device.value];
    if (!std::exchange(slot.held, true)) {
      for (const std::size_t place : slot.places) {
        ++places_[place].slots_held;
      }
    }
  }
  return obstacles;
}

std::optional<DeviceLocks::Obstacle> DeviceLocks::acquire(std::size_t index) {
  Place& place = places_[index];
  if (place.lock && (!place.kept || use_kept(place))) {
    return std::nullopt;
  }
  Result<void> done = open_folder();
  LockAttempt attempt(question(place));
  if (done && !place.visited) {
    Result<std::vector<std::string>> earlier = attempt.join_earlier();
    done = earlier ? Result<void>() : Failure(earlier.error());
    place.visited = done.has_value();
    place.earlier = std::move(earlier).value_or(std::vector<std::string>());
  }
  if (done) {
    done = attempt.ask(line(place));
  }
  if (!done || !attempt.won()) {
    return refuse(index, done, attempt);
  }
  place.file = attempt.name();
  place.lock = std::move(attempt.file());
  place.obstacle.reset();
  place.refusals = 0;
  place.patience = {};
  return std::nullopt;
}

LockAttempt::Question DeviceLocks::question(const Place& place) const {
  return {folder_, root_, place.prefix, signature_,
          [this, &place](const std::string& name) { return passes(name, place); }};
}

Result<void> DeviceLocks::open_folder() {
  struct stat info {};
  if (folder_ && ::fstat(folder_.get(), &info) == 0 && info.st_nlink > 0) {
    return check_lock_folder(info, root_);
  }
  Result<Fd> folder = open_lock_folder(root_);
  if (!folder) {
    return Failure(folder.error());
  }
  folder_ = std::move(*folder);
  if (wishes_ != nullptr) {
    wishes_->follow(folder_);
  }
  return {};
}

DeviceLocks::Obstacle DeviceLocks::refuse(std::size_t index, const Result<void>& problem,
                                          LockAttempt& attempt) {
  Place& place = places_[index];
  Obstacle obstacle;
  const auto try_later = [&](milliseconds first, milliseconds most) {
    place.patience = std::clamp(place.patience * 2, first, most);
    waits_->after(index, place.patience);
  };
  const Clock::time_point now = Clock::now();
  place.refusals = now - place.refused > kForgetRefusals ? 1 : place.refusals + 1;
  place.refused = now;
  if (!problem) {
    obstacle.error = problem.error().message;
    try_later(kFirstPatience, kMostPatience);
  } else if (attempt.winner()) {
    obstacle.passing = attempt.winner()->kept;
    if (obstacle.passing) {
      obstacle.error = fmt::format("{} is about to give it up", describe(*attempt.winner()));
    } else {
      obstacle.holder = std::move(attempt.winner());
    }
    place.patience = {};
    if (const Result<void> waits = waits_->await(index, std::move(attempt.in_the_way())); !waits) {
      obstacle.error = waits.error().message;
      try_later(kFirstPatience, kMostPatience);
    }
  } else {
    // Another who asks, for a moment; or somebody who only wants to be in the way.
    struct stat info {};
    (void)::fstat(attempt.file().get(), &info);
    const std::vector<FileLocker> lockers = find_lockers(info);
    obstacle.error = lockers.empty()
                         ? "another berth asks for it at the same moment"
                         : fmt::format("process {} of {} has locked the file that asks for it",
                                       lockers.front().pid, user_name(lockers.front().uid));
    try_later(kFirstPatienceWithRivals, kMostPatienceWithRivals);
    obstacle.passing = place.patience < kMostPatienceWithRivals;
  }
  place.obstacle = obstacle;
  return obstacle;
}

/// Whether a file is no obstacle: it is this owner's, or of whoever has leased for us.
bool DeviceLocks::passes(const std::string& name, const Place& place) const {
  return name == place.file ||
         std::find(place.earlier.begin(), place.earlier.end(), name) != place.earlier.end() ||
         (!kin_.empty() && kin_.contains(fmt::format("{}/{}", root_, name)));
}

const DeviceLocks::Obstacle* DeviceLocks::obstacle(DeviceId device) const {
  for (const std::size_t place : slots_[device.value].places) {
    if (const std::optional<Obstacle>& obstacle = places_[place].obstacle) {
      return &*obstacle;
    }
  }
  return nullptr;
}

std::vector<DeviceId> DeviceLocks::freed() {
  std::vector<DeviceId> devices;
  hear_wishes();
  for (const std::size_t index : waits_->take()) {
    Place& place = places_[index];
    if (place.expires && place.lock) {
      expire_kept(index);
      continue;
    }
    if (place.refusals > kQuickRefusals && !place.put_off) {
      const std::uint32_t beyond = std::min(place.refusals - kQuickRefusals, 10U);
      waits_->after(index, std::min(milliseconds(1U << beyond), kMostPutOff));
      place.put_off = true;
      continue;
    }
    place.put_off = false;
    place.obstacle.reset();
    const std::vector<DeviceId> slots = slots_of(index);
    devices.insert(devices.end(), slots.begin(), slots.end());
  }
  return devices;
}

void DeviceLocks::release(DeviceId device) {
  Slot& slot = slots_[device.value];
  if (!slot.held) {
    return;
  }
  slot.held = false;
  for (const std::size_t place : slot.places) {
    if (--places_[place].slots_held == 0 && !keep(place)) {
      drop(places_[place]);
    }
  }
}

/// False when it must be given back.
bool DeviceLocks::keep(std::size_t index) {
  Place& place = places_[index];
  if (wishes_ == nullptr || !wishes_->hears() || place.wanted || !place.earlier.empty() ||
      ::fchmod(place.lock.get(), kModeKept) != 0) {
    return false;
  }
  place.kept = true;
  place.idle = Clock::now();
  if (!place.expires) {
    place.expires = true;
    waits_->after(index, kLongestKept);
  }
  return true;
}

/// False when the file is gone: then others may have the device by now.
bool DeviceLocks::use_kept(Place& place) {
  struct stat info {};
  if (::fchmod(place.lock.get(), kModeHolding) == 0 && ::fstat(place.lock.get(), &info) == 0 &&
      info.st_nlink > 0) {
    place.kept = false;
    return true;
  }
  drop(place);
  return false;
}

void DeviceLocks::hear_wishes() {
  if (wishes_ == nullptr) {
    return;
  }
  const LockWishes::Made made = wishes_->take();
  for (Place& place : places_) {
    const bool asked =
        made.missed ||
        std::any_of(made.names.begin(), made.names.end(), [&](const std::string& name) {
          return name.starts_with(place.prefix) && !name.starts_with(place.prefix + signature_);
        });
    place.wanted = place.lock && (place.wanted || asked);
    if (place.wanted && place.kept) {
      drop(place);
    }
  }
}

void DeviceLocks::expire_kept(std::size_t index) {
  Place& place = places_[index];
  const auto left = std::chrono::ceil<milliseconds>(place.idle + kLongestKept - Clock::now());
  place.expires = place.kept && left.count() > 0;
  if (place.expires) {
    waits_->after(index, left);
  } else if (place.kept) {
    drop(place);
  }
}

void DeviceLocks::drop(Place& place) {
  (void)::unlinkat(folder_.get(), place.file.c_str(), 0);
  for (const std::string& name : place.earlier) {
    (void)::unlinkat(folder_.get(), name.c_str(), 0);
  }
  place.earlier.clear();
  place.file.clear();
  place.kept = false;
  place.wanted = false;
  // Not only closed: what a job has left behind may have it open, too.
  (void)lock_file(place.lock.get(), LOCK_UN);
  place.lock.reset();
}

std::vector<std::string> DeviceLocks::restore() {
  std::vector<std::string> told;
  const Clock::time_point now = Clock::now();
  if (now - looked_ < kLookForRemoved) {
    return told;
  }
  looked_ = now;
  for (Place& place : places_) {
    struct stat info {};
    if (place.lock && !place.kept && ::fstat(place.lock.get(), &info) == 0 && info.st_nlink == 0) {
      told.push_back(put_back(place));
    }
  }
  return told;
}

/// A new file, since the kernel gives no name to one that has lost its last. It is no longer asked
/// whether the device is free: jobs of ours are on it.
std::string DeviceLocks::put_back(Place& place) {
  const std::string what =
      fmt::format("somebody has removed the lock of GPU {} in {}", place.name, root_);
  Result<void> done = open_folder();
  LockAttempt attempt(question(place));
  if (done) {
    done = attempt.insist(line(place));
  }
  if (!attempt.won()) {
    return fmt::format("{}: {}", what, done.error().message);
  }
  place.file = attempt.name();
  place.lock = std::move(attempt.file());
  if (attempt.winner()) {
    return fmt::format("{}, and it is in use twice now: also by {}", what,
                       describe(*attempt.winner()));
  }
  return what + "; it was put back";
}

std::vector<DeviceId> DeviceLocks::slots_of(std::size_t place) const {
  std::vector<DeviceId> devices;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const std::vector<std::size_t>& places = slots_[i].places;
    if (std::find(places.begin(), places.end(), place) != places.end()) {
      devices.push_back(DeviceId{i});
    }
  }
  return devices;
}

std::string DeviceLocks::line(const Place& place) const {
  LockHolder holder;
  holder.kind = owner_.kind;
  holder.pid = ::getpid();
  holder.started = seconds_since_1970();
  holder.device = place.name;
  holder.task = owner_.task;
  return encode_holder(holder);
}

std::vector<std::string> DeviceLocks::paths(std::span<const DeviceId> devices) const {
  std::vector<std::string> paths;
  for (const DeviceId device : devices) {
    for (const std::size_t place : slots_[device.value].places) {
      std::string path = fmt::format("{}/{}", root_, places_[place].file);
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
        paths.push_back(std::move(path));
      }
    }
  }
  return paths;
}

std::string DeviceLocks::leases(std::span<const DeviceId> devices) const {
  return fmt::format("{}{}{}", inherited_, inherited_.empty() ? "" : ":",
                     fmt::join(paths(devices), ":"));
}

std::vector<int> DeviceLocks::descriptors(std::span<const DeviceId> devices) const {
  std::vector<int> descriptors;
  for (const DeviceId device : devices) {
    for (const std::size_t place : slots_[device.value].places) {
      const int lock = places_[place].lock.get();
      if (std::find(descriptors.begin(), descriptors.end(), lock) == descriptors.end()) {
        descriptors.push_back(lock);
      }
    }
  }
  return descriptors;
}

std::string describe(const DeviceLocks::Obstacle& obstacle, std::string_view gpu) {
  return obstacle.holder ? fmt::format("GPU {} is in use by {}", gpu, describe(*obstacle.holder))
                         : fmt::format("GPU {} cannot be locked: {}", gpu, obstacle.error);
}

}  // namespace berth
