// GET /v1/jobs/ids: the numbers of very many jobs, in any order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

struct IdsReply {
  /// Numbers that count up or down by one; in JSON a list of three.
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::int64_t step = 0;  // 1, -1, or 0 where there is one alone
  };
  std::uint64_t count = 0;  // of the jobs
  std::vector<Run> runs;
};
std::string to_json(const IdsReply& reply);
Result<IdsReply> parse_ids_reply(std::string_view json);

}  // namespace berth
