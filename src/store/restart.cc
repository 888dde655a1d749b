// What a restarted daemon reads first: a million rows must not make it late.
#include <fmt/format.h>

#include <unordered_map>

#include "store/fields.h"
#include "store/reader.h"
#include "store/rows.h"

namespace berth {

namespace {

Stopping stopping_for(std::int64_t reason) {
  switch (static_cast<EndReason>(reason)) {
    case EndReason::TimeLimit:
      return Stopping::TimeLimit;
    case EndReason::Memory:
      return Stopping::Memory;
    case EndReason::Profile:
      return Stopping::Profile;
    default:
      return Stopping::Cancelled;
  }
}

}  // namespace

Result<std::vector<std::string>> Reader::present_devices(const LiveJob& job) {
  if (job.phase != JobPhase::Starting && job.phase != JobPhase::Running) {
    return std::vector<std::string>();
  }
  Result<std::vector<StoredAttempt>> all = attempts(job.id, 1);
  if (!all) {
    return Failure(all.error());
  }
  return all->empty() ? std::vector<std::string>() : std::move(all->back().devices);
}

/// Few jobs name files, and those of others are not decoded.
Result<void> Reader::read_outputs(const Statement& row, LiveJob& job) {
  constexpr int kRest = SpecColumn::AfterSpec + 4;
  job.outputs.reset();
  if (row.null(kRest)) {
    return {};
  }
  JobDescription told;
  if (!decode_rest(row.bytes(kRest), told)) {
    return damaged_job(row.integer(SpecColumn::Id));
  }
  if (told.output.empty() && told.error.empty()) {
    return {};
  }
  Result<std::string> directory = interner_->content(row.integer(kRest + 1));
  if (!directory) {
    return Failure(directory.error());
  }
  told.directory = std::move(*directory);
  told.name = row.bytes(kRest + 2);
  if (!row.null(kRest + 3)) {
    told.array_index = static_cast<std::uint32_t>(row.integer(kRest + 3));
  }
  told.project = job.project;
  told.user = job.user;
  job.outputs = std::move(told);
  return {};
}

Result<void> Reader::for_each_live(bool few, const std::function<void(const LiveJob&)>& visit) {
  // Where most jobs are live, the table is read through in its own order; else the index finds them
  // and they are sorted.
  Result<Statement> rows =
      database_->prepare(fmt::format("SELECT {}, reason, project, command, user, rest, directory, "
                                     "name, array_index FROM jobs {} CROSS JOIN "
                                     "details ON details.job = jobs.id "
                                     "WHERE state < {} ORDER BY id",
                                     kSpecColumns, few ? "INDEXED BY jobs_by_state" : "NOT INDEXED",
                                     static_cast<int>(JobPhase::Succeeded)));
  if (!rows) {
    return Failure(rows.error());
  }
  std::unordered_map<std::int64_t, Needs> kinds;
  std::unordered_map<std::int64_t, std::string> projects;
  LiveJob job;
  for (;;) {
    const Result<bool> row = rows->step();
    if (!row) {
      return Failure(row.error());
    }
    if (!*row) {
      return {};
    }
    if (is_staged(*staging_, JobId{static_cast<std::uint64_t>(rows->integer(SpecColumn::Id))})) {
      continue;
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
    job.stopping = rows->null(SpecColumn::AfterSpec)
                       ? Stopping::No
                       : stopping_for(rows->integer(SpecColumn::AfterSpec));
    job.claim = rows->null(SpecColumn::Claim)
                    ? std::nullopt
                    : std::optional(Bytes{rows->integer(SpecColumn::Claim)});
    job.memory_retries = static_cast<std::uint8_t>(rows->integer(SpecColumn::MemoryRetries));
    job.project.clear();
    if (constexpr int kProject = SpecColumn::AfterSpec + 1; !rows->null(kProject)) {
      const std::int64_t id = rows->integer(kProject);
      auto project = projects.find(id);
      if (project == projects.end()) {
        Result<std::string> content = interner_->content(id);
        if (!content) {
          return Failure(content.error());
        }
        project = projects.emplace(id, std::move(*content)).first;
      }
      job.project = project->second;
    }
    job.command = rows->bytes(SpecColumn::AfterSpec + 2);
    job.user = static_cast<uid_t>(rows->integer(SpecColumn::AfterSpec + 3));
    if (const Result<void> read = read_outputs(*rows, job); !read) {
      return read;
    }
    Result<std::vector<std::string>> devices = present_devices(job);
    if (!devices) {
      return Failure(devices.error());
    }
    job.devices = std::move(*devices);
    visit(job);
  }
}

}  // namespace berth
