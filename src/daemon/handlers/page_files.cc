#include "daemon/handlers/page_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/replies.h"
#include "web/page.h"

namespace berth {
namespace {

/// Only what this server gives out itself may run, be shown or be asked for, and in no frame.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// gzip ends with a checksum and the length of what it holds.
std::string entity_tag(std::string_view gzip) {
  std::string tag = "\"";
  for (const char byte : gzip.substr(gzip.size() - std::min<std::size_t>(gzip.size(), 8))) {
    tag += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return tag + '"';
}

/// Whether a list of tags, as If-None-Match has it, names this one.
bool names_tag(std::string_view list, std::string_view tag) {
  return list == "*" || list.find(tag) != list.npos;
}

HttpResponse page_response(const PageFile& file, std::string_view if_none_match) {
  const std::string tag = entity_tag(file.gzip);
  HttpResponse response;
  response.type = file.type;
  response.headers = {{"Content-Encoding", "gzip"},
                      {"ETag", tag},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", std::string(kContentPolicy)},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cross-Origin-Resource-Policy", "same-origin"}};
  if (names_tag(if_none_match, tag)) {
    response.status = 304;
  } else {
    response.body = file.gzip;
  }
  return response;
}

}  // namespace

bool serve_page(const HttpRequest& request, std::unique_ptr<Responder>& reply) {
  const auto files = page_files();
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const PageFile& each) { return each.path == request.path; });
  if (file == files.end()) {
    return false;
  }
  if (request.method == "GET" || request.method == "HEAD") {
    reply->respond(page_response(*file, request.if_none_match));
  } else {
    HttpResponse response =
        failed({ErrorCode::Refused, fmt::format("{} is only for reading", request.path)});
    response.status = 405;
    response.headers.emplace_back("Allow", "GET, HEAD");
    reply->respond(std::move(response));
  }
  return true;
}

}  // namespace berth
