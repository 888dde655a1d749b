#include "store/attempt_table.h"

#include "store/backing.h"

namespace berth {

Result<void> AttemptTable::begin(StoredAttempt attempt) {
  return backing_.group().add(BeginAttempt{std::move(attempt)});
}

Result<void> AttemptTable::start(JobId job, std::uint16_t attempt, pid_t pid, Time started) {
  return backing_.group().add(StartAttempt{job, attempt, pid, started});
}

Result<void> AttemptTable::set_stopping(JobId job, Stopping why) {
  return backing_.group().add(SetStopping{job, why});
}

Result<void> AttemptTable::end(JobId job, std::uint16_t attempt, Ending ending) {
  return backing_.group().add(EndAttempt{job, attempt, std::move(ending)});
}

Result<std::vector<StoredAttempt>> AttemptTable::of(JobId job, std::size_t newest) {
  return backing_.reader().attempts(job, newest);
}

Result<std::optional<StoredAttempt>> AttemptTable::find(JobId job, std::uint16_t number) {
  return backing_.reader().attempt(job, number);
}

}  // namespace berth
