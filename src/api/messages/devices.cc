#include "api/messages/devices.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, DeviceReport::Holder>& job) {
  io.required("id", job.id);
  io.field("claim_bytes", job.claim);
  io.field("share", job.share);
  io.field("used_bytes", job.used);
}

template <class Io>
void fields(Io& io, In<Io, DeviceReport>& device) {
  io.required("name", device.name);
  io.field("uuid", device.uuid);
  io.field("model", device.model);
  io.field("health", device.health);
  io.field("memory_bytes", device.memory);
  io.field("foreign_bytes", device.foreign);
  io.or_nothing("expected_idle_w", device.expected_idle);
  io.or_nothing("expected_busy_w", device.expected_busy);
  io.or_nothing("used_bytes", device.used);
  io.or_nothing("utilization_percent", device.utilization);
  io.or_nothing("power_w", device.power);
  io.or_nothing("power_limit_w", device.power_limit);
  io.or_nothing("energy_j", device.energy);
  io.or_nothing("temperature_c", device.temperature);
  io.field("claimed_bytes", device.claimed);
  io.or_nothing("obstacle", device.obstacle);
  io.or_nothing("reserved_for", device.reserved_for);
  io.field("jobs", device.jobs);
}

template <class Io>
void fields(Io& io, In<Io, DevicesReply>& reply) {
  io.version();
  io.required("devices", reply.devices);
  io.required("sources", reply.sources);
}

template <class Io>
void fields(Io& io, In<Io, DeviceHistoryReply::Device>& device) {
  io.required("name", device.name);
  io.numbers("utilization_percent", device.utilization, 1);
  io.numbers("used_bytes", device.used, 0);
  io.numbers("power_w", device.power, 1);
  io.numbers("temperature_c", device.temperature, 1);
}

template <class Io>
void fields(Io& io, In<Io, DeviceHistoryReply>& reply) {
  io.version();
  io.field("from", reply.from);
  io.field("interval_s", reply.interval);
  io.required("devices", reply.devices);
}

std::string to_json(const DevicesReply& reply) { return written(reply); }
Result<DevicesReply> parse_devices_reply(std::string_view json) {
  return read_message<DevicesReply>(json);
}

std::string to_json(const DeviceHistoryReply& reply) { return written(reply); }
Result<DeviceHistoryReply> parse_device_history_reply(std::string_view json) {
  return read_message<DeviceHistoryReply>(json);
}

}  // namespace berth
