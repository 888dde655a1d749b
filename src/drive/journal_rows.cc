#include "drive/journal_rows.h"

namespace berth {
namespace {

/// An entry stays short enough to be read and told in one go.
constexpr std::uint32_t kMostInARow = 100'000;
constexpr std::size_t kMostRuns = 500;

/// Whether `next` goes on where `row` ends; then `row` has both.
bool join(Submit& row, const Submit& next) {
  const bool follows = row.id.value + row.count == next.id.value &&
                       row.count + next.count <= kMostInARow && row.spec == next.spec;
  row.count += follows ? next.count : 0;
  return follows;
}

std::optional<Rank> rank_of(const Restore& job) {
  return job.standing ? job.standing->rank : std::nullopt;
}

/// `next` is of one job.
bool join(Restored& row, const Restored& next) {
  const Restore& one = row.first;
  const Restore& other = next.first;
  std::uint64_t count = row.count;
  for (const Restored::More& more : row.more) {
    count += more.count;
  }
  if (one.running || other.running || one.id.value + count != other.id.value ||
      count >= kMostInARow || row.more.size() >= kMostRuns || one.attempt != other.attempt ||
      one.memory_retries != other.memory_retries ||
      one.standing.has_value() != other.standing.has_value() ||
      rank_of(one).has_value() != rank_of(other).has_value() || one.spec != other.spec) {
    return false;
  }
  const bool first = row.more.empty();
  const Time submitted = first ? one.submitted : row.more.back().submitted;
  const std::optional<Rank> rank = first ? rank_of(one) : row.more.back().rank;
  if (submitted == other.submitted && rank == rank_of(other)) {
    ++(first ? row.count : row.more.back().count);
  } else {
    row.more.push_back({1, other.submitted, rank_of(other)});
  }
  return true;
}

/// Whether the two are of one kind and one goes on where the other ends.
bool join(JournalInput& row, const JournalInput& next) {
  if (auto* submitted = std::get_if<Submit>(&row)) {
    const auto* more = std::get_if<Submit>(&next);
    return more != nullptr && join(*submitted, *more);
  }
  auto* restored = std::get_if<Restored>(&row);
  const auto* more = std::get_if<Restored>(&next);
  return restored != nullptr && more != nullptr && join(*restored, *more);
}

bool may_grow(const JournalInput& input) {
  return std::holds_alternative<Submit>(input) || std::holds_alternative<Restored>(input);
}

}  // namespace

void JournalRows::add(JournalInput input, Time at) {
  if (!write_ || (row_ && at == row_time_ && join(*row_, input))) {
    return;
  }
  flush();
  if (may_grow(input)) {
    row_ = std::move(input);
    row_time_ = at;
  } else {
    write_(input, at);
  }
}

void JournalRows::flush() {
  if (row_) {
    write_(*row_, row_time_);
    row_.reset();
  }
}

}  // namespace berth
