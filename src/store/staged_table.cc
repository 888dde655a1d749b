#include "store/staged_table.h"

#include "store/backing.h"

namespace berth {

Result<void> StagedTable::stage(JobId first, std::uint64_t count) {
  return backing_.group().add(StageJobs{first, count});
}

Result<void> StagedTable::complete(JobId first) {
  return backing_.group().add(CompleteStaged{first});
}

Result<void> StagedTable::show(JobId first, std::uint64_t count, std::uint64_t held) {
  return backing_.group().add(ShowStaged{first, count, held});
}

Result<void> StagedTable::drop(JobId first, std::uint64_t count) {
  return backing_.group().add(DropStaged{first, count});
}

const Staging& StagedTable::all() const { return backing_.counters().staging; }

}  // namespace berth
