// The devices: GET /v1/devices, which is also the answer to changes of devices, and their recent
// history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"

namespace berth {

struct DeviceReport {
  /// A job that holds the device.
  struct Holder {
    JobId id;
    Bytes claim;
    std::uint32_t share = 0;  // thousandths
    Bytes used;
  };

  std::string name;
  std::string uuid;
  std::string model;
  std::string health;  // ok, drained, lost or removed
  Bytes memory;        // 0: unknown
  Bytes foreign;       // held by processes that berth did not start
  // The expected power without a job, and with one, in watts. Absent from an older daemon.
  std::optional<double> expected_idle;
  std::optional<double> expected_busy;
  // As far as the device reports them.
  std::optional<Bytes> used;  // by all processes
  std::optional<double> utilization;
  std::optional<double> power;  // watts
  std::optional<double> power_limit;
  std::optional<double> energy;  // joules
  std::optional<double> temperature;
  Bytes claimed;         // by the jobs that hold it
  std::string obstacle;  // why the daemon could not lease it when it last tried; empty: none
  std::optional<JobId> reserved_for;  // a waiting job for which the policy keeps it free
  std::vector<Holder> jobs;
};

/// Also the event `devices`.
struct DevicesReply {
  std::vector<DeviceReport> devices;
  std::vector<std::string> sources;  // `--gpus` texts that name all devices, the daemon's first
};
std::string to_json(const DevicesReply& reply);
Result<DevicesReply> parse_devices_reply(std::string_view json);

/// GET /v1/devices/history. Values are means over `interval` seconds; none where unknown.
struct DeviceHistoryReply {
  using Values = std::vector<std::optional<double>>;
  struct Device {
    std::string name;
    Values utilization;
    Values used;  // bytes
    Values power;
    Values temperature;
  };
  double from = 0;  // time of the first value
  double interval = 0;
  std::vector<Device> devices;
};
std::string to_json(const DeviceHistoryReply& reply);
Result<DeviceHistoryReply> parse_device_history_reply(std::string_view json);

}  // namespace berth
