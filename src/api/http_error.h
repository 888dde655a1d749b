// The transport's own errors: its answers to requests that reach no handler.
#pragma once

#include <string_view>

#include "api/http_server.h"

namespace berth {

HttpResponse error_response(int status, std::string_view message);

/// What was wrong with an unreadable request, by its status.
std::string_view why_unreadable(int status);

}  // namespace berth
