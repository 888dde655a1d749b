#include "api/messages/events.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, SubmittedEvent>& event) {
  io.required("first", event.first);
  io.required("count", event.count);
}

template <class Io>
void fields(Io& io, In<Io, ForgottenEvent>& event) {
  io.required("count", event.count);
}

template <class Io>
void fields(Io& io, In<Io, DaemonEvent>& event) {
  io.required("paused", event.paused);
  io.required("policy", event.policy);
  io.required("placement", event.placement);
}

template <class Io>
void fields(Io& io, In<Io, DeviceEvent>& event) {
  io.required("device", event.device);
  io.required("health", event.health);
}

std::string to_json(const SubmittedEvent& event) { return written(event); }
Result<SubmittedEvent> parse_submitted_event(std::string_view json) {
  return read_message<SubmittedEvent>(json);
}

std::string to_json(const ForgottenEvent& event) { return written(event); }
Result<ForgottenEvent> parse_forgotten_event(std::string_view json) {
  return read_message<ForgottenEvent>(json);
}

std::string to_json(const DaemonEvent& event) { return written(event); }
Result<DaemonEvent> parse_daemon_event(std::string_view json) {
  return read_message<DaemonEvent>(json);
}

std::string to_json(const DeviceEvent& event) { return written(event); }
Result<DeviceEvent> parse_device_event(std::string_view json) {
  return read_message<DeviceEvent>(json);
}

}  // namespace berth
