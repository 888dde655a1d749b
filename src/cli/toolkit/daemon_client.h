// DaemonClient: how commands talk to the daemon. It starts one when none is there.
#pragma once

#include <string>
#include <string_view>

#include "api/http_client.h"
#include "base/result.h"

namespace berth {

/// Connected; `start` says whether to start a daemon where none runs.
Result<HttpClient> connect_daemon(bool start);

/// The body of a good answer, or the error that the daemon gave.
Result<std::string> ask(HttpClient& daemon, std::string_view method, std::string_view target,
                        std::string_view body = {});

}  // namespace berth
