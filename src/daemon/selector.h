// Selectors: the words by which a user names jobs. Each number or name adds to the choice (without
// any: every job), and so does each state. The other words narrow the choice:
//
//   12  3-7  12,20-29    numbers
//   @  @~2               the user's newest submission, and the one two before it
//   train*               a name (with * and ?); vision/train: a project and a name in it
//   name= project= sweep= state=failed,oom user= label=KEY=VALUE
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/query.h"

namespace berth {

/// What a selector cannot know from its words.
struct SelectorFacts {
  std::function<std::vector<JobId>()> paused_jobs;
  /// The submission of the user who asks that is `back` older than the newest.
  std::function<std::optional<IdRange>(std::size_t back)> submission;
};

/// An error names the word that makes no sense. No words choose every job.
Result<JobFilter> parse_selector(const std::vector<std::string_view>& words,
                                 const SelectorFacts& facts);

}  // namespace berth
