// The transport's own errors: what it answers where no handler is asked.
#pragma once

#include <string_view>

#include "api/http_server.h"

namespace berth {

HttpResponse error_response(int status, std::string_view message);

/// What was wrong with a request that could not be read, by the status that says so.
std::string_view why_unreadable(int status);

}  // namespace berth
