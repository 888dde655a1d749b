#include "daemon/spill.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace berth {
namespace {

/// A job whose start is as near as this stays.
constexpr Duration kNear = std::chrono::seconds(60);
constexpr Duration kPause = std::chrono::seconds(2);

/// Whether a job that waits for devices may move.
bool may_move_any(const Queue& queue) {
  return std::any_of(queue.heads().begin(), queue.heads().end(), [&](const Queue::Head& head) {
    return !queue.bucket(head.shape).needs.spill.empty();
  });
}

}  // namespace

Time tested_start(std::string_view answer) {
  constexpr std::string_view kBefore = "to start at ";
  const std::size_t at = answer.find(kBefore);
  if (at == answer.npos) {
    return kNever;
  }
  const std::string_view number = answer.substr(at + kBefore.size());
  std::int64_t seconds = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), seconds);
  return read.ec == std::errc() ? Time(std::chrono::seconds(seconds)) : kNever;
}

void Spill::look(Time at) {
  if (asking_ || at < next_) {
    return;
  }
  next_ = at + kPause;
  if (!may_move_any(desk_.scheduler().queue())) {
    return;  // a forecast would be for nothing
  }
  for (const auto& [id, run] : reports_.expected_runs()) {
    const Job* job = desk_.scheduler().find(id);
    if (job == nullptr || !desk_.scheduler().queue().contains(*job) || run.start - at <= kNear) {
      continue;
    }
    const Needs& needs = desk_.scheduler().needs(*job);
    if (needs.spill.empty()) {
      continue;
    }
    JobSpec spec;
    spec.needs = needs;
    spec.limit = job->limit;
    spec.priority = job->priority;
    spec.retry = job->traits().retry;
    return ask(id, spec, run.start);
  }
}

/// Whether the cluster would start the job before `start`.
void Spill::ask(JobId job, const JobSpec& spec, Time start) {
  const Result<SlurmTarget*> target = targets_.cluster(spec.needs.spill);
  const Result<std::vector<std::string>> options = targets_.options_for(spec);
  if (!target || !options) {
    return;
  }
  std::vector<std::string> words = {"sbatch", "--test-only"};
  words.insert(words.end(), options->begin(), options->end());
  words.emplace_back("--wrap=true");
  asking_ = true;
  (*target)->ask(std::move(words), [this, job, start](const SlurmAnswer& answer) {
    asking_ = false;
    const Time there = answer.ok() ? tested_start(answer.errors + answer.output) : kNever;
    if (there != kNever && there < start) {
      move(job, there);
    }
  });
}

void Spill::move(JobId id, Time there) {
  const Job* job = desk_.scheduler().find(id);
  const Result<JobRecord> record = desk_.store.jobs().record(id);
  if (job == nullptr || !desk_.scheduler().queue().contains(*job) || !record) {
    return;  // it has started, or is gone
  }
  JobSpec spec = record->description.spec;
  spec.begin = std::max(spec.begin, record->not_before);
  spec.owner = job->owner;
  spec.needs = desk_.scheduler().needs(*job);
  spec.needs.target = std::exchange(spec.needs.spill, "");
  if (!desk_.driver.scheduler().tell(Edit{id, spec}, desk_.now())) {
    return;
  }
  desk_.check(
      desk_.store.jobs().amend(id, spec, record->description.name, record->description.command));
  desk_.events.job_changed(id);
  desk_.log.write("job {} goes to {}, where it would start {} from now", id.value,
                  spec.needs.target, format_duration(std::max(Duration{}, there - desk_.now())));
}

}  // namespace berth
