// GET /v1/jobs/{id}/log: the body is the output of a job, as bytes; its position is in headers.
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

  std::uint16_t attempt = 0;  // attempt of the output; 0: none has begun
  std::int64_t offset = 0;    // where to continue
  More more = More::No;       // whether there is more now, there will be, or there will not
};
std::vector<std::pair<std::string, std::string>> to_headers(const LogReply& reply);
Result<LogReply> parse_log_reply(const HttpReply& reply);

}  // namespace berth
