// GET /v1/jobs/ids: the numbers of very many jobs, in any order. Numbers that count up or down by
// one form a run: [first, count, step]. The answer is written number by number, because a million
// at once would hold up all other clients.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace berth {

struct IdsReply {
  std::uint64_t count = 0;                      // of all jobs that match
  std::vector<std::vector<std::int64_t>> runs;  // of the first of them, if the request has a limit
  std::map<std::string, std::uint64_t> states;  // how many of the jobs are in which state

  /// The first `most` numbers (0: all of them).
  std::vector<JobId> first(std::size_t most) const;
};
Result<IdsReply> parse_ids_reply(std::string_view json);

class IdsReplyWriter {
 public:
  void add(JobId id);
  /// How many were added.
  std::uint64_t size() const { return size_; }
  /// {"version":1,"runs":[[1,100,1],[7,1,0]],"count":101,"states":{"queued":101}}; nothing can be
  /// added after it. `states`: how many of all jobs that match are in which state.
  std::string take(const std::map<std::string_view, std::uint64_t>& states);

 private:
  void close_run();

  std::string text_ = R"({"version":1,"runs":[)";
  bool empty_ = true;  // no run is closed yet
  std::uint64_t size_ = 0;
  std::uint64_t first_ = 0;  // of the open run
  std::uint64_t length_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace berth
