// GET /v1/jobs/{id}/log: what a job has written is the body, as bytes; where it stands is in
// headers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/http_client.h"
#include "base/result.h"

namespace berth {

struct LogReply {
  enum class More : std::uint8_t { Now, Later, No };

  std::uint16_t attempt = 0;  // whose output it is; 0: none has begun
  std::int64_t offset = 0;    // where to go on
  More more = More::No;       // whether there is more at once, will be, or will not
};
std::vector<std::pair<std::string, std::string>> to_headers(const LogReply& reply);
Result<LogReply> parse_log_reply(const HttpReply& reply);

}  // namespace berth
