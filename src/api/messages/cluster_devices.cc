#include "api/messages/cluster_devices.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, ClusterDeviceReport>& device) {
  io.required("node", device.node);
  io.required("gpu", device.gpu);
  io.field("type", device.type);
  io.field("node_state", device.node_state);
  io.or_nothing("reason", device.reason);
  io.or_nothing("slurm_job", device.slurm_job);
  io.or_nothing("user", device.user);
  io.or_nothing("name", device.name);
}

template <class Io>
void fields(Io& io, In<Io, ClusterDevicesReply>& reply) {
  io.version();
  io.required("devices", reply.devices);
}

std::string to_json(const ClusterDevicesReply& reply) { return written(reply); }
Result<ClusterDevicesReply> parse_cluster_devices_reply(std::string_view json) {
  return read_message<ClusterDevicesReply>(json);
}

}  // namespace berth
