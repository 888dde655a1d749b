#include "daemon/web_access.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/read_file.h"
#include "base/secret.h"
#include "gpu/locks/lock_folder.h"
#include "web/page.h"

namespace berth {
namespace {

constexpr std::string_view kPortSetting = "web_port";

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

WebAccess::WebAccess(Desk& desk, HttpServer& server, std::string folder)
    : desk_(desk), server_(server), folder_(std::move(folder)) {}

Result<TcpAccess> WebAccess::tcp_access() {
  Result<std::string> token = daemon_token(folder_);
  if (!token) {
    return Failure(token.error());
  }
  TcpAccess access;
  access.token = std::move(*token);
  access.user = ::getuid();
  access.session = [this](std::string_view shown) {
    const std::optional<Peer> peer = sessions_.find(shown, desk_.now());
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

Result<void> WebAccess::open() {
  if (const Result<std::string> text = read_file(folder_ + "/sessions")) {
    sessions_ = Sessions(*text);
  }
  if (!desk_.options.listen.empty()) {
    return listen_at(desk_.options.listen, desk_.options.force_listen);
  }
  const Result<std::optional<std::string>> port = desk_.store.settings().get(kPortSetting);
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
  note_ = fmt::format("the web page has moved from port {}: {}", **port, listening.error().message);
  desk_.log.write(note_);
  // Without the page there are still jobs to run.
  if (const Result<void> moved = listen_anywhere(); !moved) {
    desk_.log.write(moved.error().message);
  }
  return {};
}

Result<void> WebAccess::listen_at(const std::string& address, bool force) {
  Result<TcpAccess> access = tcp_access();
  if (!access) {
    return Failure(access.error());
  }
  const Result<int> port = server_.listen_tcp(address, std::move(*access), force);
  if (!port) {
    return Failure(port.error());
  }
  listening_ = fmt::format("{}:{}", address.substr(0, address.rfind(':')), *port);
  return {};
}

/// The port is kept, so that open pages find the next daemon.
Result<void> WebAccess::listen_anywhere() {
  if (Result<void> listening = listen_at("127.0.0.1:0", false); !listening) {
    return listening;
  }
  desk_.check(desk_.store.settings().set(std::string(kPortSetting),
                                         listening_.substr(listening_.rfind(':') + 1)));
  return {};
}

HttpResponse WebAccess::log_in(const HttpRequest& request) {
  if (!request.peer.local) {
    return refusal(403, "only the Unix socket gives out links to sign in: berth ui");
  }
  Result<void> listening = listening_.empty() ? listen_anywhere() : Result<void>();
  const Result<std::string> code = random_hex(16);
  if (!listening || !code) {
    return failed(listening ? code.error() : listening.error());
  }
  sessions_.add_code(*code, request.peer.uid, desk_.now());
  LoginReply reply;
  reply.url = fmt::format("http://{}/#/login/{}", browsable(listening_), *code);
  reply.expires = static_cast<std::uint32_t>(Sessions::kCodeLife / std::chrono::seconds(1));
  reply.note = std::exchange(note_, {});
  return json(to_json(reply));
}

HttpResponse WebAccess::begin_session(const HttpRequest& request) {
  const Result<std::string> code = parse_login_code(request.body);
  Result<std::string> token = random_hex(32);
  if (!code || !token) {
    return failed(code ? token.error() : code.error());
  }
  const std::optional<uid_t> user =
      sessions_.begin(*code, *token, desk_.now(), request.peer.process);
  if (!user) {
    desk_.log.write("somebody was refused a sign-in: the link was used, too old or another user's");
    return refusal(
        401, "this link has been used, is too old or is another user's: berth ui gives a new one");
  }
  if (const Result<void> saved = save_sessions(); !saved) {
    return failed(saved.error());
  }
  desk_.log.write("user {} has signed in to the web page", *user);
  return json(to_json(SessionReply{*token, *user, user_name(*user)}));
}

HttpResponse WebAccess::end_session(const HttpRequest& request) {
  if (request.peer.session == 0) {
    return failed({ErrorCode::Refused, "this is no session's token"});
  }
  sessions_.end(request.peer.session);
  if (const Result<void> saved = save_sessions(); !saved) {
    return failed(saved.error());
  }
  return json(to_json(SignedOutReply{}));
}

Result<void> WebAccess::save_sessions() {
  if (!sessions_.changed()) {
    return {};
  }
  Result<void> written = replace_private_file(folder_ + "/sessions", sessions_.text());
  if (written) {
    sessions_.saved();
  }
  return written;
}

}  // namespace berth
