#include "api/messages/error.h"

#include <fmt/format.h>

#include "api/json_writer.h"
#include "api/messages/json.h"

namespace berth {
namespace {

constexpr std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
      return "usage";
    case ErrorCode::NotFound:
      return "not_found";
    case ErrorCode::Refused:
      return "refused";
    case ErrorCode::Io:
      return "io";
    case ErrorCode::Unavailable:
      return "unavailable";
    case ErrorCode::Timeout:
      return "timeout";
  }
  return "";
}

}  // namespace

std::string error_json(const Error& error) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.object("error", [&] {
      json.field("code", name_of(error.code));
      json.field("message", error.message);
    });
  });
  return json.take();
}

Error parse_error(std::string_view text, int status) {
  const Result<Json> json = parse_object(text);
  if (json && json->contains("error") && (*json)["error"].is_object()) {
    const Json& error = (*json)["error"];
    const auto told = [&](const char* key) {
      const auto found = error.find(key);
      return found != error.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const std::string name = told("code");
    for (const ErrorCode code : {ErrorCode::Usage, ErrorCode::NotFound, ErrorCode::Refused,
                                 ErrorCode::Io, ErrorCode::Unavailable, ErrorCode::Timeout}) {
      if (name == name_of(code)) {
        return {code, told("message")};
      }
    }
  }
  return {ErrorCode::Unavailable, fmt::format("the daemon answered with status {}", status)};
}

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
      return 400;
    case ErrorCode::NotFound:
      return 404;
    case ErrorCode::Refused:
      return 409;
    case ErrorCode::Io:
      return 500;
    case ErrorCode::Unavailable:
      return 503;
    case ErrorCode::Timeout:
      return 504;
  }
  return 500;
}

}  // namespace berth
