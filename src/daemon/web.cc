// The web page: its files, signing in to it, and the port it is found at.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/read_file.h"
#include "base/secret.h"
#include "daemon/daemon.h"
#include "daemon/replies.h"
#include "gpu/locks/lock_folder.h"
#include "web/page.h"

namespace berth {
namespace {

constexpr std::string_view kPortSetting = "web_port";

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

HttpResponse refusal(int status, std::string message) {
  HttpResponse response = failed({ErrorCode::Refused, std::move(message)});
  response.status = status;
  return response;
}

/// Where a browser of this machine finds a server that listens there.
std::string browsable(std::string_view listening) {
  const std::string_view host = listening.substr(0, listening.rfind(':'));
  const std::string_view port = listening.substr(host.size());
  return fmt::format("{}{}",
                     host == "0.0.0.0" ? "127.0.0.1"
                     : host == "[::]"  ? "[::1]"
                                       : host,
                     port);
}

}  // namespace

/// A page file is the same for everybody and on no disk: it need not wait for the turn's commit.
bool Daemon::serve_page(const HttpRequest& request, Reply& reply) {
  const auto files = page_files();
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const PageFile& each) { return each.path == request.path; });
  if (file == files.end()) {
    return false;
  }
  if (request.method == "GET" || request.method == "HEAD") {
    reply->respond(page_response(*file, request.if_none_match));
  } else {
    HttpResponse response = refusal(405, fmt::format("{} is only for reading", request.path));
    response.headers.emplace_back("Allow", "GET, HEAD");
    reply->respond(std::move(response));
  }
  return true;
}

Result<TcpAccess> Daemon::tcp_access() {
  Result<std::string> token = daemon_token(paths_.state);
  if (!token) {
    return Failure(token.error());
  }
  TcpAccess access;
  access.token = std::move(*token);
  access.user = ::getuid();
  access.session = [this](std::string_view shown) {
    const std::optional<Peer> peer = sessions_.find(shown, now());
    // When it was used is not worth an error: the next use tries again.
    (void)save_sessions().has_value();
    return peer;
  };
  access.open.emplace_back("POST /v1/session");
  for (const PageFile& file : page_files()) {
    access.open.push_back(fmt::format("GET {}", file.path));
  }
  return access;
}

/// As asked at the start; else where the daemon before was found, if anybody ever wanted the page.
Result<void> Daemon::open_tcp(const DaemonOptions& options) {
  if (const Result<std::string> text = read_file(paths_.state + "/sessions")) {
    sessions_ = Sessions(*text);
  }
  if (!options.listen.empty()) {
    return listen_at(options.listen, options.force_listen);
  }
  const Result<std::optional<std::string>> port = store_->setting(kPortSetting);
  if (!port || !port->has_value()) {
    return port ? Result<void>() : Result<void>(Failure(port.error()));
  }
  const Result<void> listening = listen_at("127.0.0.1:" + **port, false);
  if (listening) {
    return {};
  }
  // Somebody else answers there now, and pages that were left open may have shown them their token.
  sessions_.end_all();
  (void)save_sessions().has_value();
  web_note_ =
      fmt::format("the web page has moved from port {}: {}", **port, listening.error().message);
  log_.write(web_note_);
  // Without the page there are still jobs to run.
  if (const Result<void> moved = listen_anywhere(); !moved) {
    log_.write(moved.error().message);
  }
  return {};
}

Result<void> Daemon::listen_at(const std::string& address, bool force) {
  Result<TcpAccess> access = tcp_access();
  if (!access) {
    return Failure(access.error());
  }
  const Result<int> port = server_->listen_tcp(address, std::move(*access), force);
  if (!port) {
    return Failure(port.error());
  }
  listening_ = fmt::format("{}:{}", address.substr(0, address.rfind(':')), *port);
  return {};
}

/// The port is kept, so that open pages find the next daemon.
Result<void> Daemon::listen_anywhere() {
  if (Result<void> listening = listen_at("127.0.0.1:0", false); !listening) {
    return listening;
  }
  check(
      store_->set_setting(std::string(kPortSetting), listening_.substr(listening_.rfind(':') + 1)));
  return {};
}

HttpResponse Daemon::log_in(const HttpRequest& request) {
  if (!request.peer.local) {
    return refusal(403, "only the Unix socket gives out links to sign in: berth ui");
  }
  Result<void> listening = listening_.empty() ? listen_anywhere() : Result<void>();
  const Result<std::string> code = random_hex(16);
  if (!listening || !code) {
    return failed(listening ? code.error() : listening.error());
  }
  sessions_.add_code(*code, request.peer.uid, now());
  return json(
      fmt::format(R"({{"version":1,"url":"http://{}/#/login/{}","expires_s":{},"note":{}}})",
                  browsable(listening_), *code, Sessions::kCodeLife / std::chrono::seconds(1),
                  web_note_.empty() ? "null" : quote(std::exchange(web_note_, {}))));
}

HttpResponse Daemon::begin_session(const HttpRequest& request) {
  const Result<std::string> code = parse_login_code(request.body);
  Result<std::string> token = random_hex(32);
  if (!code || !token) {
    return failed(code ? token.error() : code.error());
  }
  const std::optional<uid_t> user = sessions_.begin(*code, *token, now(), request.peer.process);
  if (!user) {
    log_.write("somebody was refused a sign-in: the link was used, too old or another user's");
    return refusal(
        401, "this link has been used, is too old or is another user's: berth ui gives a new one");
  }
  if (const Result<void> saved = save_sessions(); !saved) {
    return failed(saved.error());
  }
  log_.write("user {} has signed in to the web page", *user);
  return json(fmt::format(R"({{"version":1,"token":"{}","uid":{},"user":{}}})", *token, *user,
                          quote(user_name(*user))));
}

HttpResponse Daemon::end_session(const HttpRequest& request) {
  if (request.peer.session == 0) {
    return failed({ErrorCode::Refused, "this is no session's token"});
  }
  sessions_.end(request.peer.session);
  if (const Result<void> saved = save_sessions(); !saved) {
    return failed(saved.error());
  }
  return json(R"({"version":1})");
}

Result<void> Daemon::save_sessions() {
  if (!sessions_.changed()) {
    return {};
  }
  Result<void> written = replace_private_file(paths_.state + "/sessions", sessions_.text());
  if (written) {
    sessions_.saved();
  }
  return written;
}

/// What the page shows of the daemon and of who asks; fields of the status.
std::string Daemon::status_for(const Peer& peer) const {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  const uid_t user = user_of(peer);
  return fmt::format(R"("uid":{},"user":{},"version_text":"{}","started":{:.3f},"hostname":{})",
                     user, quote(user_name(user)), BERTH_VERSION, seconds(opened_), quote(host));
}

}  // namespace berth
