// How commands talk to the daemon, and start one if none runs.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/http_client.h"
#include "base/result.h"
#include "base/time.h"

namespace berth {

/// A connection to the daemon, which is started if none runs.
Result<HttpClient> connect_daemon();
/// A connection to the daemon that runs.
Result<HttpClient> connect_running_daemon();

/// The body of a good answer, or the error that the daemon gave.
Result<std::string> ask(HttpClient& daemon, std::string_view method, std::string_view target,
                        std::string_view body = {});

/// The same on a new connection to the daemon, which is started if none runs. `patience` is how
/// long the answer may take.
Result<std::string> ask_daemon(std::string_view method, std::string_view target,
                               std::string_view body = {},
                               Duration patience = std::chrono::seconds(60));
/// The same, but an error if no daemon runs.
Result<std::string> ask_running_daemon(std::string_view method, std::string_view target);

/// An answer as a message: as_message(ask_daemon("GET", "/v1/status"), parse_status_reply).
template <class T>
Result<T> as_message(const Result<std::string>& answer, Result<T> (*parse)(std::string_view)) {
  return answer ? parse(*answer) : Result<T>(Failure(answer.error()));
}

}  // namespace berth
