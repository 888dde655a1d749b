#include "drive/checkpoint.h"

#include <algorithm>
#include <limits>

#include "drive/told_scheduler.h"
#include "policy/policies.h"

namespace berth {

CheckpointWriter::CheckpointWriter(Scheduler& scheduler, JournalRows& rows, Time at)
    : scheduler_(scheduler), rows_(rows) {
  rows_.add(CheckpointBegun{}, at);
  scheduler_.watch(&changes_);
}

bool CheckpointWriter::go_on(std::size_t most, const std::string& policy, Time at) {
  if (!walked_ && !walk(most, at)) {
    return false;
  }
  if (changes_.jobs.size() > most) {
    write_changed(most, at);
    return false;
  }
  if (!scheduler_.at_rest(at)) {
    return false;
  }
  write_changed(most, at);
  CheckpointDone done{{policy, scheduler_.config()}, {}, scheduler_.close_books()};
  for (const DeviceSlot& slot : scheduler_.devices().all()) {
    done.devices.push_back({slot.spec, slot.health, slot.foreign, slot.taken, {}});
  }
  rows_.add(std::move(done), at);
  return true;
}

/// Every job once. True: that was all.
bool CheckpointWriter::walk(std::size_t most, Time at) {
  const std::optional<JobId> next =
      scheduler_.visit_jobs(changes_.below, most, [&](const Job& job) {
        if (!std::holds_alternative<Ended>(job.state)) {
          rows_.add(Restored{scheduler_.as_it_stands(job)}, at);
        }
      });
  walked_ = !next;
  changes_.below = next.value_or(JobId{std::numeric_limits<std::uint64_t>::max()});
  return walked_;
}

void CheckpointWriter::write_changed(std::size_t most, Time at) {
  JobsGone gone;
  for (; most > 0 && !changes_.jobs.empty(); --most) {
    const JobId id = *changes_.jobs.begin();
    changes_.jobs.erase(changes_.jobs.begin());
    const Job* job = scheduler_.find(id);
    if (job == nullptr || std::holds_alternative<Ended>(job->state)) {
      gone.jobs.push_back(id);
    } else {
      rows_.add(Restored{scheduler_.as_it_stands(*job)}, at);
    }
  }
  if (!gone.jobs.empty()) {
    rows_.add(std::move(gone), at);
  }
}

void CheckpointReader::take(const Restored& jobs) {
  std::uint64_t count = jobs.count;
  for (const Restored::More& more : jobs.more) {
    count += more.count;
  }
  if (jobs.first.id.value >= next_) {
    next_ = jobs.first.id.value + count;
    rows_.push_back(jobs);
  } else {
    jobs.for_each([&](const Restore& job) { later_[job.id] = job; });
  }
  count_ += count;
}

void CheckpointReader::take(const JobsGone& gone) {
  for (const JobId job : gone.jobs) {
    later_[job] = std::nullopt;
  }
}

Result<std::unique_ptr<ToldScheduler>> CheckpointReader::finish(const CheckpointDone& done,
                                                                Time at) const {
  Result<std::unique_ptr<Policy>> policy = make_live_policy(done.scheduler.policy);
  if (!policy) {
    return Failure(policy.error());
  }
  auto scheduler = std::make_unique<ToldScheduler>(std::move(*policy), done.scheduler, at);
  for (const DeviceSlot& slot : done.devices) {
    const DeviceId device = scheduler->add_device(slot.spec, at);
    scheduler->tell(DeviceChanged{device, slot.health}, at);
    scheduler->tell(ForeignUse{device, slot.foreign}, at);
    scheduler->tell(DeviceTaken{device, slot.taken}, at);
  }
  bool sound = true;
  const auto tell = [&](const Restore& job) {
    sound = sound && can_restore(scheduler->get(), job);
    if (sound) {
      scheduler->tell(job, at);
    }
  };
  auto later = later_.begin();
  const auto tell_later_below = [&](JobId id) {
    for (; later != later_.end() && later->first < id; ++later) {
      if (later->second) {
        tell(*later->second);
      }
    }
  };
  for (const Restored& row : rows_) {
    row.for_each([&](const Restore& job) {
      tell_later_below(job.id);
      if (later == later_.end() || later->first != job.id) {
        tell(job);
      }
    });
  }
  tell_later_below(JobId{std::numeric_limits<std::uint64_t>::max()});
  if (!sound || !scheduler->tell(done.books, at)) {
    return fail(ErrorCode::Refused, "the checkpoint makes no sense");
  }
  return scheduler;
}

bool can_restore(const Scheduler& scheduler, const Restore& job) {
  if (scheduler.find(job.id) != nullptr) {
    return false;
  }
  std::vector<DeviceId> devices = job.running ? job.running->devices : std::vector<DeviceId>{};
  std::sort(devices.begin(), devices.end());
  return std::adjacent_find(devices.begin(), devices.end()) == devices.end() &&
         (devices.empty() || devices.back().value < scheduler.devices().size());
}

}  // namespace berth
