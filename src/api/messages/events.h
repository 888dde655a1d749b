// The data of the events of GET /v1/events. `job` is a JobReport, `devices` a DevicesReply; `hello`
// and `reset` carry nothing more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace berth {

/// `submitted`: jobs with consecutive numbers.
struct SubmittedEvent {
  JobId first;
  std::uint64_t count = 0;
};
std::string to_json(const SubmittedEvent& event);
Result<SubmittedEvent> parse_submitted_event(std::string_view json);

/// `forgotten`.
struct ForgottenEvent {
  std::uint64_t count = 0;
};
std::string to_json(const ForgottenEvent& event);
Result<ForgottenEvent> parse_forgotten_event(std::string_view json);

/// `daemon`: how the daemon decides.
struct DaemonEvent {
  bool paused = false;
  std::string policy;
  std::string placement;
};
std::string to_json(const DaemonEvent& event);
Result<DaemonEvent> parse_daemon_event(std::string_view json);

/// `device`.
struct DeviceEvent {
  std::string device;  // its name
  std::string health;
};
std::string to_json(const DeviceEvent& event);
Result<DeviceEvent> parse_device_event(std::string_view json);

}  // namespace berth
