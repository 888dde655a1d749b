#include "api/messages/advice.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, AdviceReply::Change>& change) {
  io.required("mean", change.mean);
  io.required("low", change.low);
  io.required("high", change.high);
}

template <class Io>
void fields(Io& io, In<Io, AdviceReply::Row>& row) {
  io.required("policy", row.policy);
  io.field("live", row.live);
  io.field("mean_wait_s", row.mean_wait_s);
  io.field("p99_wait_s", row.p99_wait_s);
  io.field("longest_wait_s", row.longest_wait_s);
  io.or_nothing("mean_wait_change", row.mean_wait_change);
  io.or_nothing("p99_wait_change", row.p99_wait_change);
}

template <class Io>
void fields(Io& io, In<Io, AdviceReply>& reply) {
  io.version();
  io.required("sentence", reply.sentence);
  io.field("in_use", reply.in_use);
  io.field("best", reply.best);
  io.field("enough", reply.enough);
  io.field("jobs", reply.jobs);
  io.field("blocks", reply.blocks);
  io.required("results", reply.results);
}

std::string to_json(const AdviceReply& reply) { return written(reply); }
Result<AdviceReply> parse_advice_reply(std::string_view json) {
  return read_message<AdviceReply>(json);
}

}  // namespace berth
