// The body of every answer with a status of 400 or above:
// {"version":1,"error":{"code":…,"message":…}}
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

std::string error_json(const Error& error);
/// The error that a reply reports.
Error parse_error(std::string_view json, int status);
int http_status(ErrorCode code);

}  // namespace berth
