#include "memory/memory_watch.h"

#include <algorithm>

namespace berth {
namespace {

Bytes use_of(const DeviceUse& use, JobId job) {
  const auto found = use.jobs.find(job);
  return found == use.jobs.end() ? Bytes{} : found->second;
}

}  // namespace

std::vector<JobUse> MemoryWatch::take(const Telemetry::Reading& reading,
                                      const DeviceTable& devices) {
  newest_ = reading;
  std::vector<JobUse> facts;
  for (std::uint32_t i = 0; i < devices.size() && i < reading.use.size(); ++i) {
    const DeviceId device{i};
    for (const DeviceLease& lease : devices[device].leases) {
      const Bytes used = use_of(reading.use[i], lease.job);
      if (used > Bytes{}) {
        Bytes& peak = peaks_[lease.job][device];
        peak = std::max(peak, used);
      }
      const Bytes beyond = used > lease.memory ? used : Bytes{};
      if (lease.memory > Bytes{} && beyond != lease.used) {
        facts.push_back({lease.job, device, beyond});
      }
    }
  }
  return facts;
}

void MemoryWatch::adopt(JobId job, std::span<const DeviceId> devices,
                        std::span<const Bytes> peaks) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Bytes& known = peaks_[job][devices[i]];
    known = std::max(known, peaks[i]);
  }
}

void MemoryWatch::used_elsewhere(JobId job, Bytes peak) {
  constexpr DeviceId kElsewhere{UINT32_MAX};
  peaks_[job][kElsewhere] = peak;
}

Bytes MemoryWatch::peak(JobId job) const {
  Bytes highest;
  if (const auto found = peaks_.find(job); found != peaks_.end()) {
    for (const auto& [device, peak] : found->second) {
      highest = std::max(highest, peak);
    }
  }
  return highest;
}

std::vector<Bytes> MemoryWatch::peaks(JobId job, std::span<const DeviceId> devices) const {
  std::vector<Bytes> each;
  const auto found = peaks_.find(job);
  for (const DeviceId device : devices) {
    const bool seen = found != peaks_.end() && found->second.contains(device);
    each.push_back(seen ? found->second.at(device) : Bytes{});
  }
  return each;
}

/// Nearly nothing is left of it.
bool MemoryWatch::full(DeviceId device, const DeviceTable& devices) const {
  const Bytes total = devices[device].spec.memory;
  if (total == Bytes{} || device.value >= newest_.samples.size()) {
    return false;
  }
  constexpr std::int64_t kLeft = 50;
  const std::optional<Bytes>& used = newest_.samples[device.value].used;
  return used && (total - *used).count < total.count / kLeft;
}

std::optional<MemoryEnd> MemoryWatch::judge(const Job& job, std::string_view output,
                                            const DeviceTable& devices) const {
  if (const auto* running = std::get_if<Running>(&job.state);
      running != nullptr &&
      (running->stopping == Stopping::Memory || running->stopping == Stopping::Profile)) {
    return MemoryEnd{{MemoryCause::Own, {}}, peak(job.id)};
  }
  const std::vector<DeviceId>& leased = *job.lease();
  const std::optional<MemoryComplaint> complaint = find_memory_complaint(output);
  // Which of its devices had nothing left: the first that tells of somebody else's fault, or else
  // the one where it used most.
  std::optional<MemoryEnd> found;
  const std::vector<Bytes> each = peaks(job.id, leased);
  for (std::size_t i = 0; i < leased.size(); ++i) {
    const DeviceSlot& slot = devices[leased[i]];
    // Where nothing is printed about it, a failure on a device that is full, and on which the job
    // had memory, is taken for one.
    if (!complaint && (each[i] == Bytes{} || !full(leased[i], devices))) {
      continue;
    }
    MemoryScene scene;
    scene.total = slot.spec.memory;
    scene.foreign = slot.foreign;
    scene.peak = each[i] + (complaint ? complaint->tried : Bytes{});
    for (const DeviceLease& lease : slot.leases) {
      if (lease.job == job.id) {
        scene.claim = lease.memory;
      } else {
        scene.neighbours.push_back({lease.job, lease.memory, lease.used});
      }
    }
    const MemoryEnd end{blame(scene), scene.peak};
    if (!found || (found->blame.cause == MemoryCause::Own && end.wanted > found->wanted)) {
      found = end;
    }
  }
  return found;
}

}  // namespace berth
