// Jobs that are written little by little.
#include <fmt/format.h>

#include <algorithm>

#include "store/writer.h"

namespace berth {

Result<void> Writer::load_staging() {
  Result<Statement> rows =
      database_->prepare("SELECT first, count, complete FROM staged ORDER BY first");
  if (!rows) {
    return Failure(rows.error());
  }
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      return {};
    }
    counters_.staging.push_back({JobId{static_cast<std::uint64_t>(rows->integer(0))},
                                 static_cast<std::uint64_t>(rows->integer(1)),
                                 rows->integer(2) != 0});
  }
}

Result<Staging::iterator> Writer::find_staged(JobId first, std::uint64_t count) {
  Staging& staging = counters_.staging;
  const auto found = std::find_if(staging.begin(), staging.end(), [&](const StagedJobs& staged) {
    return staged.first == first && count <= staged.count;
  });
  if (found == staging.end()) {
    return fail(ErrorCode::NotFound, fmt::format("no jobs from {} on are staged", first.value));
  }
  return found;
}

/// The first of them are staged no more.
Result<void> Writer::shrink(Staging::iterator staged, std::uint64_t count) {
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

Result<void> Writer::write(const StageJobs& change) {
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

Result<void> Writer::write(const CompleteStaged& change) {
  const Result<Staging::iterator> staged = find_staged(change.first, 0);
  if (!staged) {
    return Failure(staged.error());
  }
  Result<void> done = set_staged_.run(change.first.value, (*staged)->count, true);
  (*staged)->complete = true;
  return done;
}

Result<void> Writer::write(const ShowStaged& change) {
  const Result<Staging::iterator> staged = find_staged(change.first, change.count);
  if (!staged) {
    return Failure(staged.error());
  }
  counters_.by_phase[static_cast<std::size_t>(JobPhase::Held)] += change.held;
  counters_.by_phase[static_cast<std::size_t>(JobPhase::Queued)] += change.count - change.held;
  return shrink(*staged, change.count);
}

Result<void> Writer::write(const DropStaged& change) {
  const Result<Staging::iterator> staged = find_staged(change.first, change.count);
  if (!staged) {
    return Failure(staged.error());
  }
  for (std::uint64_t i = 0; i < change.count; ++i) {
    if (Result<void> done = forget(JobId{change.first.value + i}, false); !done) {
      return done;
    }
  }
  return shrink(*staged, change.count);
}

}  // namespace berth
