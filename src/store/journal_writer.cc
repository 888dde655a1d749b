#include "store/journal_writer.h"

#include "store/journal.h"
#include "store/prepare.h"

namespace berth {

Result<void> JournalWriter::prepare(Database& database) {
  return prepare_all(database,
                     {{append_input_, "INSERT INTO journal(entry, time, input) VALUES(?1, ?2, ?3)"},
                      {forget_inputs_, "DELETE FROM journal WHERE entry < ?1"}});
}

Result<void> JournalWriter::write(const AppendOldInput& change) {
  return write(AppendInput{change.time, encode_input(Stepped{})});
}

Result<void> JournalWriter::write(const AppendInput& change) {
  Result<void> done = append_input_.run(counters_.next_entry,
                                        change.time.time_since_epoch().count(), Blob{change.input});
  if (done) {
    ++counters_.next_entry;
  }
  return done;
}

Result<void> JournalWriter::write(const ForgetInputs& change) {
  return forget_inputs_.run(change.before);
}

}  // namespace berth
