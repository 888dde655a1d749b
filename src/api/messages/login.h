// Signing in to the web page: a link with a code in it, a token for the code, and signing out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

/// POST /v1/login: a link, whose code works once.
struct LoginReply {
  std::string url;
  std::uint32_t expires = 0;  // seconds
  std::string note;           // for the user; empty: none
};
std::string to_json(const LoginReply& reply);
Result<LoginReply> parse_login_reply(std::string_view json);

/// POST /v1/session: what follows `#/login/` in the link.
std::string login_code_json(std::string_view code);
Result<std::string> parse_login_code(std::string_view json);

struct SessionReply {
  std::string token;
  uid_t uid = 0;  // the user of the token
  std::string user;
};
std::string to_json(const SessionReply& reply);
Result<SessionReply> parse_session_reply(std::string_view json);

/// POST /v1/session/end.
struct SignedOutReply {};
std::string to_json(const SignedOutReply& reply);

}  // namespace berth
