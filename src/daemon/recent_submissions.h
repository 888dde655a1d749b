// RecentSubmissions: which jobs each user queued last, so that `@` can name the newest submission
// and `@~2` the one two before it. A restart finds them again from the newest jobs on record.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "store/store.h"

namespace berth {

class RecentSubmissions {
 public:
  /// Submissions that are kept for each user.
  static constexpr std::size_t kMost = 100;

  /// `continues`: these jobs are a further part of the user's newest submission.
  void add(uid_t user, IdRange jobs, bool continues);

  /// The user's newest submission, or one that is `back` submissions older.
  std::optional<IdRange> find(uid_t user, std::size_t back) const;

  /// Finds the newest submissions on record: jobs that one request queued have one time.
  Result<void> restore(Store& store);

 private:
  std::map<uid_t, std::deque<IdRange>> users_;  // the newest first
};

}  // namespace berth
