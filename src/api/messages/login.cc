#include "api/messages/login.h"

#include "api/messages/fields.h"
#include "api/messages/json.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, LoginReply>& reply) {
  io.version();
  io.required("url", reply.url);
  io.field("expires_s", reply.expires);
  io.or_null("note", reply.note);
}

template <class Io>
void fields(Io& io, In<Io, SessionReply>& reply) {
  io.version();
  io.required("token", reply.token);
  io.required("uid", reply.uid);
  io.field("user", reply.user);
}

template <class Io>
void fields(Io& io, In<Io, SignedOutReply>&) {
  io.version();
}

std::string to_json(const LoginReply& reply) { return written(reply); }
Result<LoginReply> parse_login_reply(std::string_view json) {
  return read_message<LoginReply>(json);
}

std::string login_code_json(std::string_view code) {
  JsonWriter json;
  json.object([&] { json.field("code", code); });
  return json.take();
}

Result<std::string> parse_login_code(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) {
    return Failure(json.error());
  }
  if (json->size() != 1 || !json->contains("code") || !(*json)["code"].is_string()) {
    return fail(ErrorCode::Usage, "to sign in takes one field, code: the one in berth ui's link");
  }
  return (*json)["code"].get<std::string>();
}

std::string to_json(const SessionReply& reply) { return written(reply); }
Result<SessionReply> parse_session_reply(std::string_view json) {
  return read_message<SessionReply>(json);
}

std::string to_json(const SignedOutReply& reply) { return written(reply); }

}  // namespace berth
