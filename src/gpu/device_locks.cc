#include "gpu/device_locks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <sstream>

namespace berth {

struct DeviceLocks::Mailbox {
  std::mutex mutex;  // guards places
  std::vector<std::size_t> places;
  Fd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

namespace {

std::string random_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<std::uint64_t>(::getpid());
  }
  return fmt::format("{:016x}", number);
}

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
  if (const Result<Fd> root = open_shared_folder(locks->root_); !root) {
    return Failure(root.error());
  }
  locks->file_ =
      escape_file_name(fmt::format("{}-{}-{}", owner.kind, ::geteuid(),
                                   owner.identity.empty() ? random_name() : owner.identity));
  locks->owner_ = std::move(owner);
  if (const char* leases = std::getenv("BERTH_LEASES"); leases != nullptr) {
    locks->inherited_ = leases;
    std::istringstream paths(leases);
    for (std::string path; std::getline(paths, path, ':');) {
      locks->kin_.insert(std::move(path));
    }
  }
  locks->mailbox_ = std::make_shared<Mailbox>();
  if (!locks->mailbox_->event) {
    return fail_errno("cannot wait for devices", errno);
  }
  for (const DeviceInfo& device : devices) {
    const std::string key = lock_key(device);
    const auto same = std::find_if(locks->places_.begin(), locks->places_.end(),
                                   [&](const Place& place) { return place.key == key; });
    locks->slots_.push_back({static_cast<std::size_t>(same - locks->places_.begin()), false});
    if (same == locks->places_.end()) {
      Place place;
      place.key = key;
      place.path = fmt::format("{}/{}", locks->root_, escape_file_name(key));
      place.name = device.spec.name;
      place.passing = !device.realm.empty();
      locks->places_.push_back(std::move(place));
    }
  }
  return locks;
}

DeviceLocks::~DeviceLocks() {
  for (Place& place : places_) {
    if (place.lock) {
      drop(place);
    }
    if (place.passing && place.folder) {
      const FolderMutex mutex(place.folder.get());
      (void)::rmdir(place.path.c_str());  // unless another owner has a file there
    }
  }
}

Result<std::vector<DeviceLocks::Taken>> DeviceLocks::try_acquire(
    std::span<const DeviceId> devices) {
  // In one order everywhere: of two berths that want the same devices, one gets all of them.
  std::vector<DeviceId> wanted(devices.begin(), devices.end());
  std::sort(wanted.begin(), wanted.end(), [&](DeviceId a, DeviceId b) {
    return places_[slots_[a.value].place].key < places_[slots_[b.value].place].key;
  });
  std::vector<DeviceId> acquired;
  std::vector<Taken> taken;
  Result<void> problem;
  for (const DeviceId device : wanted) {
    Slot& slot = slots_[device.value];
    if (slot.held) {
      continue;
    }
    const Result<std::optional<LockHolder>> other = acquire(slot.place);
    if (!other) {
      problem = Failure(other.error());
      break;
    }
    if (*other) {
      for (const DeviceId same : slots_of(slot.place)) {
        taken.push_back({same, **other});
      }
      continue;
    }
    slot.held = true;
    ++places_[slot.place].slots_held;
    acquired.push_back(device);
  }
  if (!problem || !taken.empty()) {
    for (const DeviceId device : acquired) {
      release(device);
    }
  }
  if (!problem) {
    return Failure(problem.error());
  }
  return taken;
}

Result<std::optional<LockHolder>> DeviceLocks::acquire(std::size_t index) {
  Place& place = places_[index];
  if (place.lock) {
    return std::optional<LockHolder>();
  }
  for (;;) {
    if (const Result<void> opened = open_folder(place); !opened) {
      return Failure(opened.error());
    }
    const FolderMutex mutex(place.folder.get());
    struct stat info {};
    if (::fstat(place.folder.get(), &info) != 0 || info.st_nlink == 0) {
      place.folder.reset();  // somebody has tidied up
      continue;
    }
    Result<void> problem;
    std::optional<LockHolder> other = find_other(place, index, problem);
    if (!problem) {
      return Failure(problem.error());
    }
    if (other) {
      return other;
    }
    if (const Result<void> own = take_own(place); !own) {
      return Failure(own.error());
    }
    return std::optional<LockHolder>();
  }
}

Result<void> DeviceLocks::open_folder(Place& place) {
  if (place.folder) {
    return {};
  }
  Result<Fd> root = open_shared_folder(root_);
  if (!root) {
    return Failure(root.error());
  }
  Result<Fd> folder = open_shared_folder(place.path);
  if (!folder) {
    return Failure(folder.error());
  }
  place.folder = std::move(*folder);
  return {};
}

/// The live owner of this place who is not us. Files of dead ones go, where they are ours to
/// remove.
std::optional<LockHolder> DeviceLocks::find_other(Place& place, std::size_t index,
                                                  Result<void>& problem) {
  for (const std::string& name : visible_names(place.folder.get())) {
    if (name == file_ || kin_.contains(fmt::format("{}/{}", place.path, name))) {
      continue;
    }
    struct stat info {};
    std::optional<Fd> file = open_owner_file(place.folder.get(), name, info);
    if (!file) {
      continue;
    }
    const int error = lock_file(file->get(), LOCK_EX | LOCK_NB);
    if (error == EWOULDBLOCK) {
      LockHolder holder = read_holder(file->get(), info, fmt::format("{}/{}", place.path, name));
      problem = await(std::move(*file), index);
      return holder;
    }
    if (error != 0) {
      problem = fail_errno(fmt::format("cannot lock files in {}", place.path), error);
      return std::nullopt;
    }
    (void)::unlinkat(place.folder.get(), name.c_str(), 0);
  }
  return std::nullopt;
}

Result<void> DeviceLocks::take_own(Place& place) {
  Result<Fd> own = reopen_own(place);
  if (own && !*own) {
    own = create_own(place);
  }
  if (!own) {
    return Failure(own.error());
  }
  place.lock = std::move(*own);
  return {};
}

/// The file of this owner from before, locked: its other processes may hold it still. An empty
/// descriptor where there is none.
Result<Fd> DeviceLocks::reopen_own(Place& place) {
  Fd file(
      ::openat(place.folder.get(), file_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) {
    return Fd();
  }
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid()) {
    return fail(ErrorCode::Io, fmt::format("{}/{} is in the way of a device lock, and not berth's: "
                                           "remove it",
                                           place.path, file_));
  }
  if (lock_file(file.get(), LOCK_SH | LOCK_NB) != 0) {
    // Whoever tests it has it alone, so no process of ours does: a new file serves as well.
    (void)::unlinkat(place.folder.get(), file_.c_str(), 0);
    return Fd();
  }
  const std::string text = line(place);
  if (::ftruncate(file.get(), 0) == 0) {
    (void)!::pwrite(file.get(), text.data(), text.size(), 0);
  }
  return file;
}

/// Under a hidden name first: whoever sees the file may rely on its lock and may read it.
Result<Fd> DeviceLocks::create_own(Place& place) {
  const std::string draft = ".new-" + random_name();
  const std::string text = line(place);
  Fd file(::openat(place.folder.get(), draft.c_str(),
                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) {
    return fail_errno(fmt::format("cannot create a device lock in {}", place.path), errno);
  }
  // What it says is only shown to others: a full disk does not matter. Its lock does.
  (void)!::write(file.get(), text.data(), text.size());
  int error = lock_file(file.get(), LOCK_SH | LOCK_NB);
  if (error == 0 &&
      (::fchmod(file.get(), 0644) != 0 ||
       ::renameat(place.folder.get(), draft.c_str(), place.folder.get(), file_.c_str()) != 0)) {
    error = errno;
  }
  if (error != 0) {
    (void)::unlinkat(place.folder.get(), draft.c_str(), 0);
    return fail_errno(fmt::format("cannot create a device lock in {}", place.path), error);
  }
  return file;
}

namespace {

struct Wait {
  Fd file;
  std::function<void()> done;
};

void* wait_for_lock(void* argument) {
  const std::unique_ptr<Wait> wait(static_cast<Wait*>(argument));
  (void)lock_file(wait->file.get(), LOCK_EX);
  // At once, before anybody takes it for the owner's.
  (void)lock_file(wait->file.get(), LOCK_UN);
  wait->done();
  return nullptr;
}

}  // namespace

/// Nobody ever stops the thread: whoever drops the locks is about to end, and a daemon wants to
/// know.
Result<void> DeviceLocks::await(Fd file, std::size_t index) {
  if (places_[index].awaited) {
    return {};
  }
  auto wait = std::make_unique<Wait>();
  wait->file = std::move(file);
  wait->done = [mailbox = mailbox_, index] {
    {
      const std::lock_guard lock(mailbox->mutex);
      mailbox->places.push_back(index);
    }
    const std::uint64_t one = 1;
    (void)!::write(mailbox->event.get(), &one, sizeof one);
  };
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The process's signals are not its business.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int error = ::pthread_create(&thread, &attributes, wait_for_lock, wait.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) {
    return fail_errno("cannot wait for a device that is in use", error);
  }
  (void)wait.release();  // the thread's
  places_[index].awaited = true;
  return {};
}

int DeviceLocks::event_fd() const { return mailbox_->event.get(); }

std::vector<DeviceId> DeviceLocks::freed() {
  std::uint64_t count = 0;
  (void)!::read(mailbox_->event.get(), &count, sizeof count);
  std::vector<std::size_t> freed;
  {
    const std::lock_guard lock(mailbox_->mutex);
    freed.swap(mailbox_->places);
  }
  std::vector<DeviceId> devices;
  for (const std::size_t place : freed) {
    places_[place].awaited = false;
    const std::vector<DeviceId> slots = slots_of(place);
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
  Place& place = places_[slot.place];
  if (--place.slots_held == 0) {
    drop(place);
  }
}

void DeviceLocks::drop(Place& place) {
  // Other processes of an owner that can come back may still use the device: then the file stays
  // for them.
  const bool ours_alone = owner_.identity.empty();
  if (ours_alone || lock_file(place.lock.get(), LOCK_EX | LOCK_NB) == 0) {
    (void)::unlinkat(place.folder.get(), file_.c_str(), 0);
  }
  // Not only closed: what a job has left behind may have it open, too.
  (void)lock_file(place.lock.get(), LOCK_UN);
  place.lock.reset();
}

std::vector<DeviceId> DeviceLocks::slots_of(std::size_t place) const {
  std::vector<DeviceId> devices;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].place == place) {
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
    std::string path = fmt::format("{}/{}", places_[slots_[device.value].place].path, file_);
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.push_back(std::move(path));
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
    const int lock = places_[slots_[device.value].place].lock.get();
    if (std::find(descriptors.begin(), descriptors.end(), lock) == descriptors.end()) {
      descriptors.push_back(lock);
    }
  }
  return descriptors;
}

}  // namespace berth
