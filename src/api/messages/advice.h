// POST /v1/advice: which policy would have served past jobs best.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

/// The answer, which `berth sim --advise --json` prints.
struct AdviceReply {
  /// Relative to the policy in use: -0.2 is a fifth less.
  struct Change {
    double mean = 0;
    double low = 0;  // of the 95 % confidence interval
    double high = 0;
  };
  struct Row {
    std::string policy;
    bool live = true;  // whether it can be used outside the simulator
    double mean_wait_s = 0;
    double p99_wait_s = 0;
    double longest_wait_s = 0;
    std::optional<Change>
        mean_wait_change;  // of the policy in use, and if too little is known: none
    std::optional<Change> p99_wait_change;
  };
  std::string sentence;
  std::string in_use;
  std::string best;  // the policy to use; the one in use: keep it
  bool enough = true;
  std::uint64_t jobs = 0;
  std::uint64_t blocks = 0;
  std::vector<Row> results;
};
std::string to_json(const AdviceReply& reply);
Result<AdviceReply> parse_advice_reply(std::string_view json);

}  // namespace berth
