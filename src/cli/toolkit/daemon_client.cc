#include "cli/toolkit/daemon_client.h"

#include <cstdlib>

#include "api/messages/error.h"
#include "base/paths.h"
#include "daemon/start.h"

namespace berth {

Result<HttpClient> connect_daemon(bool start) {
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  Result<HttpClient> client = HttpClient::connect(paths->socket());
  if (client || !start) {
    return client;
  }
  DaemonOptions options;
  if (const char* gpus = std::getenv("BERTH_GPUS"); gpus != nullptr && *gpus != '\0') {
    options.gpus = gpus;
  }
  // Two commands may find none at once: whoever comes second finds that of the first.
  if (const Result<void> started = start_daemon(options); !started) {
    client = HttpClient::connect(paths->socket());
    return client ? std::move(client) : Result<HttpClient>(Failure(started.error()));
  }
  return HttpClient::connect(paths->socket());
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
                               std::string_view body, bool start, Duration patience) {
  Result<HttpClient> daemon = connect_daemon(start);
  if (!daemon) {
    return Failure(daemon.error());
  }
  daemon->set_patience(patience);
  return ask(*daemon, method, target, body);
}

}  // namespace berth
