#include "api/messages/charts.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, TotalsReply>& reply) {
  io.version();
  io.field("gpu_seconds", reply.gpu_seconds);
  io.field("energy_j", reply.energy);
  io.field("started", reply.started);
  io.required("ended", reply.ended);
}

template <class Io>
void fields(Io& io, In<Io, TimelineReply::Span>& span) {
  io.required("job", span.job);
  io.field("attempt", span.attempt);
  io.field("name", span.name);
  io.field("project", span.project);
  io.field("sweep", span.sweep);
  io.field("user", span.user);
  io.field("gpus", span.gpus);
  io.field("from", span.from, 3);
  io.or_null("to", span.to, 3);
  io.field("state", span.state);
}

template <class Io>
void fields(Io& io, In<Io, TimelineReply>& reply) {
  io.version();
  io.field("now", reply.now, 3);
  io.field("truncated", reply.truncated);
  io.required("spans", reply.spans);
}

template <class Io>
void fields(Io& io, In<Io, UsageReply::Device>& device) {
  io.required("name", device.name);
  io.field("memory_bytes", device.memory);
  io.numbers("utilization_percent", device.utilization, 1);
}

template <class Io>
void fields(Io& io, In<Io, UsageReply>& reply) {
  io.version();
  io.required("attempt", reply.attempt);
  io.numbers("times", reply.times, 1);
  io.field("devices", reply.devices);
}

std::string to_json(const TotalsReply& reply) { return written(reply); }
Result<TotalsReply> parse_totals_reply(std::string_view json) {
  return read_message<TotalsReply>(json);
}

std::string to_json(const TimelineReply& reply) { return written(reply); }
Result<TimelineReply> parse_timeline_reply(std::string_view json) {
  return read_message<TimelineReply>(json);
}

std::string to_json(const UsageReply& reply) { return written(reply); }
Result<UsageReply> parse_usage_reply(std::string_view json) {
  return read_message<UsageReply>(json);
}

}  // namespace berth
