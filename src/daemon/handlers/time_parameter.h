// Times in the parameters of requests.
#pragma once

#include <string_view>

#include "api/http_server.h"
#include "base/result.h"
#include "base/time.h"

namespace berth {

/// The parameter `name`, in seconds since 1970; `otherwise` if the request does not have it.
Result<Time> time_parameter(const HttpRequest& request, std::string_view name, Time otherwise);

}  // namespace berth
