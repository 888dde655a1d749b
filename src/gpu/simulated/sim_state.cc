#include "gpu/simulated/sim_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/check.h"
#include "base/paths.h"
#include "base/process_facts.h"
#include "base/small_files.h"

namespace berth {
namespace {

constexpr std::size_t file_size(std::size_t devices) {
  return sizeof(SimHeader) + devices * sizeof(SimRecord);
}

std::int64_t nanoseconds_after_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// Different for every path, so that devices of different state files are never taken for one.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return value;
}

void drop_dead_processes(SimRecord& device) {
  for (SimProcess& process : device.processes) {
    if (process.pid == 0) {
      continue;
    }
    const auto stat = read_proc_stat(process.pid);
    if (!stat || !stat->alive() || stat->start != process.start) {
      process.pid = 0;
    }
  }
}

void count_energy(SimRecord& device, std::int64_t now) {
  const std::int64_t elapsed = std::max<std::int64_t>(0, now - device.joules_at);
  // The time first: who is killed between the two loses an interval and does not count it twice.
  device.joules_at = now;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  device.joules += static_cast<double>(elapsed) * 1e-12 * sim_milliwatts(device);
}

Failure not_a_state_file(const std::string& path) {
  return fail(ErrorCode::Usage,
              fmt::format("{} is not a state file of simulated devices of this version; remove it "
                          "or name another",
                          path));
}

}  // namespace

SimState::Lock::Lock(SimState& state) : state_(state) {
  state_.mutex_.lock();
  while (::flock(state_.file_.get(), LOCK_EX) != 0) {
    BERTH_CHECK(errno == EINTR);
  }
  const std::int64_t now = nanoseconds_after_boot();
  for (SimRecord& device : state_.devices_) {
    // Dead ones first: nobody knows when they died, and energy is not to be made up for them.
    drop_dead_processes(device);
    count_energy(device, now);
  }
}

SimState::Lock::~Lock() {
  ::flock(state_.file_.get(), LOCK_UN);
  state_.mutex_.unlock();
}

SimState::~SimState() {
  if (header_ != nullptr) {
    ::munmap(header_, file_size(devices_.size()));
  }
}

Result<std::unique_ptr<SimState>> SimState::open(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) {
    return fail_errno(fmt::format("cannot open the simulated devices in {}", path), errno);
  }
  std::unique_ptr<SimState> state(new SimState(path, std::move(file)));
  if (const Result<void> ready = state->prepare(nullptr); !ready) {
    return Failure(ready.error());
  }
  return state;
}

Result<std::unique_ptr<SimState>> SimState::open_or_create(const std::string& path,
                                                           SimShape shape) {
  BERTH_CHECK(shape.count > 0 && shape.count <= kSimMostDevices);
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file && errno == ENOENT) {
    if (const Result<void> made = make_folder(path.substr(0, path.rfind('/'))); !made) {
      return Failure(made.error());
    }
    file = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }
  if (!file) {
    return fail_errno(fmt::format("cannot open the simulated devices in {}", path), errno);
  }
  std::unique_ptr<SimState> state(new SimState(path, std::move(file)));
  if (const Result<void> ready = state->prepare(&shape); !ready) {
    return Failure(ready.error());
  }
  if (state->size() != shape.count) {
    return fail(ErrorCode::Usage, fmt::format("{} holds {} simulated devices, not {}: say sim:{}",
                                              path, state->size(), shape.count, state->size()));
  }
  return state;
}

/// Checks the file and maps it; writes it first where it is new.
Result<void> SimState::prepare(const SimShape* shape) {
  const Lock lock(*this);
  struct stat info {};
  SimHeader header{};
  if (::fstat(file_.get(), &info) != 0 || ::pread(file_.get(), &header, sizeof(header), 0) < 0) {
    return fail_errno(fmt::format("cannot read {}", path_), errno);
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (shape != nullptr) {
    // The magic is written last: zeros in its place are a file whose writer was killed.
    const std::size_t wanted = file_size(shape->count);
    const bool half_written = size == wanted && header.magic == decltype(header.magic){};
    if (size == 0 || half_written) {
      // With its blocks: a write through the map to a disk that is full would be fatal.
      if (const int error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(wanted))) {
        return fail_errno(fmt::format("cannot write {}", path_), error);
      }
      if (Result<void> mapped = map(wanted); !mapped) {
        return mapped;
      }
      write_new(*shape);
      return {};
    }
  }
  if (size < sizeof(SimHeader) || header.magic != kSimMagic || header.version != kSimVersion ||
      header.device_count > kSimMostDevices || size != file_size(header.device_count)) {
    return not_a_state_file(path_);
  }
  if (Result<void> mapped = map(size); !mapped) {
    return mapped;
  }
  forget_earlier_boot();
  return {};
}

Result<void> SimState::map(std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) {
    return fail_errno(fmt::format("cannot map {}", path_), errno);
  }
  header_ = static_cast<SimHeader*>(memory);
  auto* first = reinterpret_cast<SimRecord*>(static_cast<char*>(memory) + sizeof(SimHeader));
  devices_ = {first, (size - sizeof(SimHeader)) / sizeof(SimRecord)};
  return {};
}

void SimState::write_new(SimShape shape) {
  const std::uint64_t key = hash(path_);
  std::uint32_t index = 0;
  for (SimRecord& device : devices_) {
    device = {};
    // The number in the first block: a table shows no more than that one.
    set_sim_text(device.uuid,
                 fmt::format("GPU-{:05x}{:03x}-{:04x}-4{:03x}-8{:03x}-{:012x}", key >> 44, index,
                             key >> 28 & 0xffff, key >> 16 & 0xfff, key >> 4 & 0xfff, 0));
    set_sim_text(device.model, "Simulated GPU");
    set_sim_text(device.pci_bus, fmt::format("{:04x}:{:02x}:00.0", index / 200, index % 200 + 1));
    device.memory = shape.memory.count;
    device.idle_milliwatts = 25'000;
    device.limit_milliwatts = 350'000;
    device.least_limit_milliwatts = 100'000;
    device.most_limit_milliwatts = 400'000;
    // Four to a socket and to an NVLink island, as in most machines with eight.
    device.numa = static_cast<std::uint16_t>(index / 4);
    device.island = static_cast<std::uint16_t>(index / 4);
    device.joules_at = nanoseconds_after_boot();
    ++index;
  }
  header_->version = kSimVersion;
  header_->device_count = shape.count;
  set_sim_text(header_->driver, "550.54.15");
  forget_earlier_boot();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  header_->magic = kSimMagic;
}

/// Start times and the energy clock count from boot, so those of an earlier boot mean nothing.
void SimState::forget_earlier_boot() {
  const std::string boot = read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
  const std::string_view id = std::string_view(boot).substr(0, boot.find('\n'));
  if (sim_text(header_->boot) == id) {
    return;
  }
  for (SimRecord& device : devices_) {
    for (SimProcess& process : device.processes) {
      process.pid = 0;
    }
    device.joules_at = nanoseconds_after_boot();
  }
  set_sim_text(header_->boot, id);
}

Bytes sim_memory(const SimRecord& device, int slice) {
  return {slice < 0 ? device.memory : device.memory / std::max(1U, device.mig_slices)};
}

Bytes sim_used(const SimRecord& device, int slice) {
  Bytes used{slice < 0 ? device.foreign : 0};
  for (const SimProcess& process : device.processes) {
    if (process.pid != 0 && (slice < 0 || process.slice == slice)) {
      used += Bytes{process.memory};
    }
  }
  return used;
}

int sim_wanted_utilization(const SimRecord& device) {
  int sum = 0;
  for (const SimProcess& process : device.processes) {
    sum += process.pid != 0 ? process.utilization : 0;
  }
  return sum;
}

int sim_utilization(const SimRecord& device) {
  return std::min(sim_wanted_utilization(device), 100);
}

int sim_milliwatts(const SimRecord& device) {
  int sum = 0;
  for (const SimProcess& process : device.processes) {
    sum += process.pid != 0 ? process.milliwatts : 0;
  }
  return std::min(std::max(sum, device.idle_milliwatts), device.limit_milliwatts);
}

int sim_temperature(const SimRecord& device) {
  constexpr int kCool = 30;
  constexpr int kHotAtLimit = 80;
  return kCool + (kHotAtLimit - kCool) * (sim_milliwatts(device) / 1000) /
                     std::max(1, device.limit_milliwatts / 1000);
}

std::string sim_slice_uuid(const SimRecord& device, int slice) {
  // The last block of a device's own uuid is zero.
  const std::string_view own = sim_text(device.uuid).substr(4);
  return fmt::format("MIG-{}{:012x}", own.substr(0, own.size() - 12), slice + 1);
}

}  // namespace berth
