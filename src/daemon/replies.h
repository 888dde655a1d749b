// Answers that many requests give.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "api/http_server.h"
#include "api/messages.h"

namespace berth {

inline HttpResponse failed(const Error& error) {
  return {http_status(error.code), "application/json", error_json(error), {}};
}

inline HttpResponse not_found(std::string_view what) {
  return failed({ErrorCode::NotFound, fmt::format("there is no {}", what)});
}

inline HttpResponse not_yours() {
  return failed({ErrorCode::Refused, "only the daemon's own user may do that"});
}

inline HttpResponse json(std::string body) {
  return {200, "application/json", std::move(body), {}};
}

/// Seconds since 1970 for JSON; 0 is "not yet".
inline double seconds(Time time) {
  return time == kNever ? 0 : to_seconds(time.time_since_epoch());
}

}  // namespace berth
