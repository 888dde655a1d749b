// Times in the parameters of requests.
#pragma once

#include <string_view>

#include "api/http_server.h"
#include "base/result.h"
#include "base/time.h"

namespace berth {

/// The parameter, in seconds since 1970; `otherwise` where the request has none of that name.
Result<Time> time_parameter(const HttpRequest& request, std::string_view name, Time otherwise);

}  // namespace berth
