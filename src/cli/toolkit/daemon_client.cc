#include "cli/toolkit/daemon_client.h"

#include "api/messages/error.h"
#include "base/paths.h"
#include "cli/toolkit/words.h"
#include "daemon/start.h"

namespace berth {

Result<HttpClient> connect_running_daemon() {
  const Result<Paths> paths = find_paths();
  return paths ? HttpClient::connect(paths->socket()) : Failure(paths.error());
}

Result<HttpClient> connect_daemon() {
  Result<HttpClient> client = connect_running_daemon();
  if (client) {
    return client;
  }
  DaemonOptions options;
  options.gpus = environment_variable("BERTH_GPUS");
  // Two commands may find none at once: whoever comes second finds that of the first.
  if (const Result<void> started = start_daemon(options); !started) {
    client = connect_running_daemon();
    return client ? std::move(client) : Result<HttpClient>(Failure(started.error()));
  }
  return connect_running_daemon();
}

Result<std::string> ask(HttpClient& daemon, std::string_view method, std::string_view target,
                        std::string_view body) {
  Result<HttpReply> reply = daemon.send(method, target, body);
  if (!reply) {
    return Failure(reply.error());
  }
  if (reply->status >= 400) {
    return Failure(parse_error(reply->body, reply->status));
  }
  return std::move(reply->body);
}

Result<std::string> ask_daemon(std::string_view method, std::string_view target,
                               std::string_view body, Duration patience) {
  Result<HttpClient> daemon = connect_daemon();
  if (!daemon) {
    return Failure(daemon.error());
  }
  daemon->set_patience(patience);
  return ask(*daemon, method, target, body);
}

Result<std::string> ask_running_daemon(std::string_view method, std::string_view target) {
  Result<HttpClient> daemon = connect_running_daemon();
  if (!daemon) {
    return Failure(daemon.error());
  }
  return ask(*daemon, method, target);
}

}  // namespace berth
