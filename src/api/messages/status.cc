#include "api/messages/status.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, GoodsReport>& goods) {
  io.field("connections", goods.connections);
  io.field("most_connections", goods.most_connections);
  io.field("streams", goods.streams);
  io.field("most_streams", goods.most_streams);
  io.field("request_bytes", goods.request_bytes);
  io.field("most_request_bytes", goods.most_request_bytes);
  io.field("answer_bytes", goods.answer_bytes);
  io.field("most_answer_bytes", goods.most_answer_bytes);
}

template <class Io>
void fields(Io& io, In<Io, UserLoad>& user) {
  io.field("uid", user.uid);
  io.field("user", user.user);
  io.among(user.goods);
  io.or_nothing("jobs", user.jobs);
  io.or_nothing("most_jobs", user.most_jobs);
  io.or_nothing("job_bytes", user.job_bytes);
  io.or_nothing("most_job_bytes", user.most_job_bytes);
}

template <class Io>
void fields(Io& io, In<Io, LoadReport>& load) {
  io.field("longest_turn_s", load.longest_turn, 6);
  io.field("longest_turn", load.longest_turn_did);
  io.field("longest_turn_ended", load.longest_turn_ended, 3);
  io.field("longest_turn_lately_s", load.longest_turn_lately, 6);
  io.field("slow_turns", load.slow_turns);
  io.field("memory_bytes", load.memory_bytes);
  io.field("users", load.users);
  io.or_nothing("strangers", load.strangers);
}

template <class Io>
void fields(Io& io, In<Io, StatusReply>& status) {
  io.version();
  io.required("pid", status.pid);
  io.field("policy", status.policy);
  io.field("policy_trouble", status.policy_trouble);
  io.field("shadow", status.shadow);
  io.field("shadow_report", status.shadow_report);
  io.field("placement", status.placement);
  io.field("oom_risk", status.oom_risk, 6);
  io.field("owners", status.owners);
  io.field("paused", status.paused);
  io.field("gpus", status.gpus);
  io.field("listen", status.listen);
  io.field("home", status.home);
  io.field("uid", status.uid);
  io.field("user", status.user);
  io.field("version_text", status.version_text);
  io.field("started", status.started, 3);
  io.field("hostname", status.hostname);
  io.field("clusters", status.clusters);
  io.field("jobs", status.jobs);
  io.field("load", status.load);
}

template <class Io>
void fields(Io& io, In<Io, PoliciesReply::Entry>& policy) {
  io.required("name", policy.name);
  io.field("about", policy.about);
  io.field("live", policy.live);
}

template <class Io>
void fields(Io& io, In<Io, PoliciesReply>& reply) {
  io.version();
  io.required("policies", reply.policies);
  io.field("placements", reply.placements);
}

template <class Io>
void fields(Io& io, In<Io, IndexReply::Entry>& route) {
  io.required("method", route.method);
  io.required("path", route.path);
}

template <class Io>
void fields(Io& io, In<Io, IndexReply>& reply) {
  io.version();
  io.required("routes", reply.routes);
}

std::string to_json(const StatusReply& reply) { return written(reply); }
Result<StatusReply> parse_status_reply(std::string_view json) {
  return read_message<StatusReply>(json);
}

std::string to_json(const PoliciesReply& reply) { return written(reply); }
Result<PoliciesReply> parse_policies_reply(std::string_view json) {
  return read_message<PoliciesReply>(json);
}

std::string to_json(const IndexReply& reply) { return written(reply); }
Result<IndexReply> parse_index_reply(std::string_view json) {
  return read_message<IndexReply>(json);
}

}  // namespace berth
