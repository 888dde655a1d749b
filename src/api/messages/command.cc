#include "api/messages/command.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, CommandReply>& reply) {
  io.version();
  io.required("done", reply.done);
  io.field("refused", reply.refused);
  io.field("reasons", reply.reasons);
}

template <class Io>
void fields(Io& io, In<Io, ForgetReply>& reply) {
  io.version();
  io.required("forgotten", reply.forgotten);
  io.field("more", reply.more);
}

template <class Io>
void fields(Io& io, In<Io, WaitReply>& reply) {
  io.version();
  io.required("failed", reply.failed);
}

std::string to_json(const CommandReply& reply) { return written(reply); }
Result<CommandReply> parse_command_reply(std::string_view json) {
  return read_message<CommandReply>(json);
}

std::string to_json(const ForgetReply& reply) { return written(reply); }
Result<ForgetReply> parse_forget_reply(std::string_view json) {
  return read_message<ForgetReply>(json);
}

std::string to_json(const WaitReply& reply) { return written(reply); }
Result<WaitReply> parse_wait_reply(std::string_view json) { return read_message<WaitReply>(json); }

}  // namespace berth
