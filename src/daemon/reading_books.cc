#include "daemon/reading_books.h"

namespace berth {

void ReadingBooks::note(const Telemetry::Reading& reading, Time at, const Driver& driver,
                        const DaemonDevices& devices) {
  devices_.add(at, reading.samples);
  for (const JobId id : driver.view().running()) {
    const Job& job = *driver.view().find(id);
    const auto* running = std::get_if<Running>(&job.state);
    if (running == nullptr || running->devices.empty()) {
      continue;
    }
    std::vector<UsageLog::Reading> readings;
    for (const DeviceId device : running->devices) {
      const DeviceState& state = driver.devices().states()[device.value];
      const auto used = state.use.jobs.find(id);
      readings.push_back({used == state.use.jobs.end() ? Bytes{} : used->second,
                          state.sample ? state.sample->utilization : std::nullopt});
    }
    usage_.add({id, job.attempt}, devices.names(running->devices), at, readings);
  }
}

}  // namespace berth
