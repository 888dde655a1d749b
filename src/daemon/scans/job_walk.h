// JobWalk: the jobs of a query in order of their numbers, some at a time. A piece is short even
// when few of very many jobs match, so that other requests can be served between two pieces.
#pragma once

#include <vector>

#include "daemon/scans/id_window.h"
#include "store/store.h"

namespace berth {

class JobWalk {
 public:
  /// The query's cursor, if it has one, says where to begin. Jobs submitted later are not seen.
  JobWalk(JobQuery query, const Store& store);

  bool over() const { return window_.over(); }
  /// The next jobs, at most `most` and maybe none. Call it until over().
  Result<std::vector<JobRecord>> next(Store& store, std::size_t most);

 private:
  JobQuery query_;
  IdWindow window_;
};

}  // namespace berth
