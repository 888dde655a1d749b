// What every answer with a status of 400 and above says:
// {"version":1,"error":{"code":…,"message":…}}
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

std::string error_json(const Error& error);
/// The error in a reply that is one.
Error parse_error(std::string_view json, int status);
int http_status(ErrorCode code);

}  // namespace berth
