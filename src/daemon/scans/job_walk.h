// JobWalk: the jobs of a query in order of their numbers, some at a time. However few of very many
// match, a piece is short, so that others can be served between two.
#pragma once

#include <vector>

#include "daemon/scans/id_window.h"
#include "store/store.h"

namespace berth {

class JobWalk {
 public:
  /// The query's cursor, if it has one, says where to begin. Jobs that come later are not seen.
  JobWalk(JobQuery query, const Store& store);

  bool over() const { return window_.over(); }
  /// The next of them, `most` or fewer, and maybe none: to be called until it is over.
  Result<std::vector<JobRecord>> next(Store& store, std::size_t most);

 private:
  JobQuery query_;
  IdWindow window_;
};

}  // namespace berth
