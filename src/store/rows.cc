#include "store/rows.h"

#include <fmt/format.h>

#include "store/fields.h"

namespace berth {
namespace {

Duration duration_or_forever(const Statement& row, int column) {
  return row.null(column) ? kForever : Duration(row.integer(column));
}

}  // namespace

Failure damaged_job(std::int64_t job) {
  return fail(ErrorCode::Io, fmt::format("the record of job {} is damaged", job));
}

Time time_or(const Statement& row, int column, Time otherwise) {
  return row.null(column) ? otherwise : Time(Duration(row.integer(column)));
}

bool read_spec(const Statement& row, JobSpec& spec) {
  spec.priority = static_cast<std::int32_t>(row.integer(SpecColumn::Priority));
  spec.held = row.integer(SpecColumn::IsHeld) != 0;
  spec.expected = duration_or_forever(row, SpecColumn::Expected);
  spec.limit = duration_or_forever(row, SpecColumn::Limit);
  spec.begin = time_or(row, SpecColumn::Begins, Time{});
  spec.warn_before = Duration(row.integer(SpecColumn::WarnBefore));
  spec.weight = row.null(SpecColumn::Weight)
                    ? 1
                    : static_cast<std::uint16_t>(row.integer(SpecColumn::Weight));
  spec.retry = {};
  spec.after.clear();
  if (!row.null(SpecColumn::Retry)) {
    const std::optional<RetryRule> rule = decode_retry(row.bytes(SpecColumn::Retry));
    if (!rule) {
      return false;
    }
    spec.retry = *rule;
  }
  if (!row.null(SpecColumn::After)) {
    std::optional<std::vector<Dependency>> after = decode_after(row.bytes(SpecColumn::After));
    if (!after) {
      return false;
    }
    spec.after = std::move(*after);
  }
  return true;
}

Ending read_ending(const Statement& row, int first, Outcome outcome) {
  Ending ending;
  ending.outcome = outcome;
  ending.ended = Time(Duration(row.integer(first)));
  ending.reason = static_cast<EndReason>(row.integer(first + 1));
  ending.exit_code = static_cast<int>(row.integer(first + 2));
  ending.signal = static_cast<int>(row.integer(first + 3));
  ending.peak = Bytes{row.integer(first + 4)};
  ending.gpu_time = Duration(row.integer(first + 5));
  if (!row.null(first + 6)) {
    ending.energy = row.real(first + 6);
  }
  ending.message = row.bytes(first + 7);
  return ending;
}

bool valid_phase(std::int64_t state) {
  return state >= 0 && state < static_cast<std::int64_t>(kPhases);
}

}  // namespace berth
