// StagedTable: the staged jobs of a store (see staged.h). Handed out by Store, which says how
// writes gather and what they report.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/staged.h"

namespace berth {

class Backing;

class StagedTable {
 public:
  explicit StagedTable(Backing& backing) : backing_(backing) {}

  /// Stages very many jobs, little by little: reserves `count` numbers from `first` on, which must
  /// not be below JobTable::next_id(), for jobs that JobTable::insert() then adds and that stay
  /// hidden. When all of them are written they are complete, and only then can they be shown. After
  /// a restart, staged jobs may be found in either state; see all().
  Result<void> stage(JobId first, std::uint64_t count);
  Result<void> complete(JobId first);
  /// Shows the first `count` jobs staged from `first` on; `held` of them are held.
  Result<void> show(JobId first, std::uint64_t count, std::uint64_t held);
  /// Drops the first `count` of these jobs, as if they had never existed.
  Result<void> drop(JobId first, std::uint64_t count);
  /// The jobs staged now. After Store::open(), none of them are complete: complete jobs are shown
  /// already.
  const Staging& all() const;

 private:
  Backing& backing_;
};

}  // namespace berth
