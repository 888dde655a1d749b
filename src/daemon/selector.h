// Selectors: the words by which a user names jobs. Numbers and names each add to the choice (none
// of them: every job), and so does each state; the other words narrow it:
//
//   12  3-7  12,20-29    numbers
//   train*               a name (with * and ?); vision/train: a project and a name in it
//   name= project= sweep= state=failed,oom user= label=KEY=VALUE
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/query.h"

namespace berth {

/// An error says which word makes no sense. No words: every job.
Result<JobFilter> parse_selector(const std::vector<std::string_view>& words);

}  // namespace berth
