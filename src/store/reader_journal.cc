// Reading the journal.
#include <fmt/format.h>

#include "store/journal_kinds.h"
#include "store/reader.h"

namespace berth {

Result<std::vector<JournalEntry>> Reader::journal(std::uint64_t from, std::size_t limit) {
  std::vector<JournalEntry> entries;
  journal_.start(from, limit);
  for (;;) {
    const Result<bool> row = journal_.step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      journal_.reset();
      return entries;
    }
    const auto number = static_cast<std::uint64_t>(journal_.integer(0));
    std::optional<JournalInput> input = decode_input(journal_.bytes(2));
    if (!input) {
      journal_.reset();
      return fail(ErrorCode::Io, fmt::format("entry {} of the journal is damaged", number));
    }
    entries.push_back({number, Time(Duration(journal_.integer(1))), std::move(*input)});
  }
}

Result<std::vector<JournalPart>> Reader::journal_parts() {
  Result<Statement> rows = database_->prepare(
      "SELECT entry, time, length(input), substr(input, 1, 1) FROM journal ORDER BY entry");
  if (!rows) {
    return Failure(rows.error());
  }
  std::vector<JournalPart> parts;
  std::optional<JournalPart> checkpoint;  // that has begun: a part if it comes to its end
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      return parts;
    }
    const JournalPart own{static_cast<std::uint64_t>(rows->integer(0)),
                          Time(Duration(rows->integer(1))),
                          static_cast<std::uint64_t>(rows->integer(2)) + kJournalRow};
    const std::string_view first = rows->bytes(3);
    const auto kind = static_cast<InputKind>(first.empty() ? 0 : first.front());
    if (parts.empty() || kind == InputKind::Restarted) {
      checkpoint.reset();
      parts.push_back({own.first, own.begun, 0});
    }
    if (kind == InputKind::CheckpointBegun) {
      checkpoint = {own.first, own.begun, 0};
    }
    parts.back().bytes += own.bytes;
    if (!checkpoint) {
      continue;
    }
    checkpoint->bytes += own.bytes;
    if (kind == InputKind::CheckpointDone) {
      parts.back().bytes -= checkpoint->bytes;
      parts.push_back(*checkpoint);
      checkpoint.reset();
    }
  }
}

}  // namespace berth
