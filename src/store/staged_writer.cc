#include "store/staged_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/prepare.h"

namespace berth {

Result<void> StagedWriter::prepare(Database& database) {
  return prepare_all(
      database,
      {{set_staged_, "INSERT OR REPLACE INTO staged(first, count, complete) VALUES(?1, ?2, ?3)"},
       {delete_staged_, "DELETE FROM staged WHERE first = ?1"}});
}

Result<Staging::iterator> StagedWriter::find(JobId first, std::uint64_t count) {
  Staging& staging = counters_.staging;
  const auto found = std::find_if(staging.begin(), staging.end(), [&](const StagedJobs& staged) {
    return staged.first == first && count <= staged.count;
  });
  if (found == staging.end()) {
    return fail(ErrorCode::NotFound, fmt::format("no jobs from {} on are staged", first.value));
  }
  return found;
}

Result<void> StagedWriter::shrink(Staging::iterator staged, std::uint64_t count) {
  if (Result<void> done = delete_staged_.run(staged->first.value); !done) {
    return done;
  }
  staged->first.value += count;
  staged->count -= count;
  if (staged->count == 0) {
    counters_.staging.erase(staged);
    return {};
  }
  return set_staged_.run(staged->first.value, staged->count, staged->complete);
}

Result<void> StagedWriter::write(const StageJobs& change) {
  if (change.first.value < counters_.next_id || change.count == 0) {
    return fail(ErrorCode::Refused, fmt::format("job {} exists already", change.first.value));
  }
  Result<void> done = set_staged_.run(change.first.value, change.count, false);
  if (done) {
    counters_.staging.push_back({change.first, change.count});
    counters_.next_id = change.first.value + change.count;
  }
  return done;
}

Result<void> StagedWriter::write(const CompleteStaged& change) {
  const Result<Staging::iterator> staged = find(change.first, 0);
  if (!staged) {
    return Failure(staged.error());
  }
  Result<void> done = set_staged_.run(change.first.value, (*staged)->count, true);
  (*staged)->complete = true;
  return done;
}

Result<void> StagedWriter::write(const ShowStaged& change) {
  const Result<Staging::iterator> staged = find(change.first, change.count);
  if (!staged) {
    return Failure(staged.error());
  }
  counters_.in(JobPhase::Held) += change.held;
  counters_.in(JobPhase::Queued) += change.count - change.held;
  return shrink(*staged, change.count);
}

Result<void> StagedWriter::write(const DropStaged& change) {
  const Result<Staging::iterator> staged = find(change.first, change.count);
  if (!staged) {
    return Failure(staged.error());
  }
  for (std::uint64_t i = 0; i < change.count; ++i) {
    if (Result<void> done = eraser_.erase(JobId{change.first.value + i}, false); !done) {
      return done;
    }
  }
  return shrink(*staged, change.count);
}

}  // namespace berth
