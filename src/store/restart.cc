// What a restarted daemon reads first: a million rows must not make it late.
#include <fmt/format.h>

#include <unordered_map>

#include "store/fields.h"
#include "store/reader.h"
#include "store/rows.h"

namespace berth {

Result<std::vector<std::string>> Reader::present_devices(const LiveJob& job) {
  if (job.phase != JobPhase::Starting && job.phase != JobPhase::Running) {
    return std::vector<std::string>();
  }
  Result<std::vector<StoredAttempt>> all = attempts(job.id);
  if (!all) {
    return Failure(all.error());
  }
  return all->empty() ? std::vector<std::string>() : std::move(all->back().devices);
}

Result<void> Reader::for_each_live(bool few, const std::function<void(const LiveJob&)>& visit) {
  // Where most jobs are live, the table is read through in its own order; else the index finds them
  // and they are sorted.
  Result<Statement> rows = database_->prepare(fmt::format(
      "SELECT {}, reason FROM jobs {} WHERE state < {} ORDER BY id", kSpecColumns,
      few ? "INDEXED BY jobs_by_state" : "NOT INDEXED", static_cast<int>(JobPhase::Succeeded)));
  if (!rows) {
    return Failure(rows.error());
  }
  std::unordered_map<std::int64_t, Needs> kinds;
  LiveJob job;
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      return {};
    }
    const std::int64_t needs_id = rows->integer(SpecColumn::NeedsId);
    auto needs = kinds.find(needs_id);
    if (needs == kinds.end()) {
      const Result<std::string> content = interner_->content(needs_id);
      if (!content) {
        return Failure(content.error());
      }
      std::optional<Needs> decoded = decode_needs(*content);
      if (!decoded) {
        return damaged_job(rows->integer(SpecColumn::Id));
      }
      needs = kinds.emplace(needs_id, std::move(*decoded)).first;
    }
    if (!valid_phase(rows->integer(SpecColumn::State)) || !read_spec(*rows, job.spec)) {
      return damaged_job(rows->integer(SpecColumn::Id));
    }
    job.spec.needs = needs->second;
    job.id = JobId{static_cast<std::uint64_t>(rows->integer(SpecColumn::Id))};
    job.phase = static_cast<JobPhase>(rows->integer(SpecColumn::State));
    job.attempt = static_cast<std::uint16_t>(rows->integer(SpecColumn::Attempt));
    job.submitted = Time(Duration(rows->integer(SpecColumn::Submitted)));
    job.not_before = time_or(*rows, SpecColumn::NotBefore, Time{});
    job.started = time_or(*rows, SpecColumn::Started, kNever);
    job.stopping = rows->null(SpecColumn::AfterSpec) ? Stopping::No
                   : rows->integer(SpecColumn::AfterSpec) == static_cast<int>(EndReason::TimeLimit)
                       ? Stopping::TimeLimit
                       : Stopping::Cancelled;
    Result<std::vector<std::string>> devices = present_devices(job);
    if (!devices) {
      return Failure(devices.error());
    }
    job.devices = std::move(*devices);
    visit(job);
  }
}

}  // namespace berth
