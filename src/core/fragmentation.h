// Fragmentation gradient descent (Weng et al., "Beware of Fragmentation", ATC '23): a job goes
// where it adds the least to what other jobs cannot use.
//
// The fragmentation of a machine for a kind of job is how much of its devices is free but of no use
// to such a job: all of it if the job does not find as many devices with enough room there as it
// wants, and else the devices with too little room. The fragmentation of the machine is the mean
// over a mix of jobs. Here, the mix is that of the jobs that wait or run, and one job that
// wants the largest machine for itself: the first jobs alone do not tell that others may be large.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "core/needs_mix.h"

namespace berth {

/// A device that may take jobs.
struct OpenDevice {
  DeviceId id;
  int machine = 0;
  std::int64_t free = 0;  // in thousandths
  std::int64_t part = 0;  // what the job would take of it
  bool fits = false;      // whether the job may go there
};

/// The machine of the devices that are best for a job that wants `count` of them; a job of one
/// device belongs on the device that comes first. Nothing when no machine has as many that fit.
std::vector<OpenDevice> least_fragmenting(std::vector<OpenDevice> devices, std::size_t count,
                                          const NeedsMix& mix, std::size_t largest_machine);

/// `free`: the free parts of the machine's devices, in thousandths, in descending order. Jobs that
/// want more devices than `largest_machine` has take them one by one wherever they are. In
/// thousandths of a device, summed up over all jobs of the mix.
std::int64_t fragmentation(const std::vector<std::int64_t>& free, const NeedsMix& mix,
                           std::size_t largest_machine);

}  // namespace berth
