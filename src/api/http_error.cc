#include "api/http_error.h"

#include <fmt/format.h>

namespace berth {

HttpResponse error_response(int status, std::string_view message) {
  HttpResponse out;
  out.status = status;
  // As error_json() has it; messages here need no escaping.
  out.body = fmt::format(R"({{"version":1,"error":{{"code":"{}","message":"{}"}}}})",
                         status >= 500                    ? "unavailable"
                         : status == 401 || status == 403 ? "refused"
                                                          : "usage",
                         message);
  if (status == 401) {
    out.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  if (status == 503) {
    out.headers.emplace_back("Retry-After", "1");
  }
  return out;
}

std::string_view why_unreadable(int status) {
  switch (status) {
    case 413:
      return "the body is too large: 32 MiB can be sent at once, and 4 KiB without a token";
    case 431:
      return "the header is too large";
    default:
      return "this is not HTTP/1.1";
  }
}

}  // namespace berth
