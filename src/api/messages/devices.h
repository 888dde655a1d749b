// The devices: GET /v1/devices, which changes of them answer with, too, and what they did lately.
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
  /// A job that holds it.
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
  Bytes memory;        // 0: not known
  Bytes foreign;       // held by processes that berth did not start
  // What it is taken to draw without a job, and with one, in watts. None: an older daemon.
  std::optional<double> expected_idle;
  std::optional<double> expected_busy;
  // As far as it tells.
  std::optional<Bytes> used;  // by anyone
  std::optional<double> utilization;
  std::optional<double> power;  // watts
  std::optional<double> power_limit;
  std::optional<double> energy;  // joules
  std::optional<double> temperature;
  Bytes claimed;         // by the jobs that hold it
  std::string obstacle;  // why the daemon could not lease it when it last tried; empty: nothing
  std::vector<Holder> jobs;
};

/// Also the event `devices`.
struct DevicesReply {
  std::vector<DeviceReport> devices;
  std::vector<std::string> sources;  // `--gpus` texts that together name them, the daemon's first
};
std::string to_json(const DevicesReply& reply);
Result<DevicesReply> parse_devices_reply(std::string_view json);

/// GET /v1/devices/history. Values are means over `interval` seconds; none where none is known.
struct DeviceHistoryReply {
  using Values = std::vector<std::optional<double>>;
  struct Device {
    std::string name;
    Values utilization;
    Values used;  // bytes
    Values power;
    Values temperature;
  };
  double from = 0;  // when the first value was
  double interval = 0;
  std::vector<Device> devices;
};
std::string to_json(const DeviceHistoryReply& reply);
Result<DeviceHistoryReply> parse_device_history_reply(std::string_view json);

}  // namespace berth
