#include "daemon/reading_books.h"

#include "base/read_file.h"

namespace berth {
namespace {

constexpr Duration kSaveHistoryEvery = std::chrono::minutes(1);

std::vector<std::string> names_of(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> names;
  for (const DeviceInfo& device : devices) {
    names.push_back(device.spec.name);
  }
  return names;
}

}  // namespace

ReadingBooks::ReadingBooks(const std::string& folder, const std::vector<DeviceInfo>& devices)
    : history_file_(folder + "/device-history") {
  usage_.open(folder + "/usage");
  if (const Result<std::string> bytes = read_file(history_file_)) {
    devices_ = DeviceHistory::decode(*bytes, names_of(devices)).value_or(DeviceHistory());
  }
}

void ReadingBooks::save(const std::vector<DeviceInfo>& devices) {
  usage_.save_all();
  replace_chart_file(history_file_, devices_.encode(names_of(devices)));
}

void ReadingBooks::note(const Telemetry::Reading& reading, Time at, const Driver& driver,
                        const DaemonDevices& devices) {
  devices_.add(at, reading.samples);
  if (at - saved_ >= kSaveHistoryEvery) {
    saved_ = at;
    replace_chart_file(history_file_, devices_.encode(names_of(devices.list())));
  }
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
    const DrivenAttempt* attempt = driver.attempts().find(id);
    usage_.add({id, job.attempt}, devices.names(running->devices), at, readings,
               attempt == nullptr ? std::nullopt : attempt->energy);
  }
}

}  // namespace berth
