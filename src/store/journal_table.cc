#include "store/journal_table.h"

#include "store/backing.h"

namespace berth {

std::uint64_t JournalTable::next_entry() const { return backing_.counters().next_entry; }

Result<void> JournalTable::append(Time time, const JournalInput& input) {
  std::string bytes = encode_input(input);
  appended_ += bytes.size() + kJournalRow;
  return backing_.group().add(AppendInput{time, std::move(bytes)});
}

Result<std::vector<JournalEntry>> JournalTable::entries(std::uint64_t from, std::size_t limit) {
  return backing_.reader().journal(from, limit);
}

Result<std::vector<JournalPart>> JournalTable::parts() { return backing_.reader().journal_parts(); }

Result<void> JournalTable::forget_before(std::uint64_t entry) {
  return backing_.group().add(ForgetInputs{entry});
}

}  // namespace berth
