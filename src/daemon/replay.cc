#include "daemon/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

#include "policy/policies.h"
#include "store/store.h"

namespace berth {
namespace {

constexpr std::size_t kAtOnce = 10'000;  // entries of the journal

class Replayer {
 public:
  explicit Replayer(Store& store) : store_(store), all_known_(has_all_jobs(store)) {}

  Result<Replay> run() {
    if (const Result<void> read = for_each_entry([this](const JournalEntry& entry) {
          if (const auto* edited = std::get_if<Edited>(&entry.input)) {
            edits_[edited->job].emplace_back(entry.number, edited->before);
          }
          look_for_begin(entry);
        });
        !read) {
      return Failure(read.error());
    }
    if (forgotten_ && !begin_) {
      return fail(ErrorCode::Refused,
                  fmt::format("the journal cannot be replayed: since the daemon's last start it "
                              "tells of job {}, which was forgotten (berth forget); it can be from "
                              "the next start on",
                              forgotten_->value));
    }
    const Result<void> read = for_each_entry([this](const JournalEntry& entry) {
      if (problem_ || entry.number < begin_.value_or(0)) {
        ++replay_.skipped;
        return;
      }
      ++replay_.entries;
      number_ = entry.number;
      at_ = entry.time;
      began_ = std::min(began_, at_);
      if (scheduler_ != nullptr || std::holds_alternative<Restarted>(entry.input)) {
        std::visit([this](const auto& input) { take(input); }, entry.input);
      }
    });
    if (!read) {
      return Failure(read.error());
    }
    if (problem_) {
      return Failure(*problem_);
    }
    compare();
    return std::move(replay_);
  }

 private:
  template <class Visit>
  Result<void> for_each_entry(Visit visit) {
    for (std::uint64_t from = 1;;) {
      const Result<std::vector<JournalEntry>> entries = store_.journal(from, kAtOnce);
      if (!entries) {
        return Failure(entries.error());
      }
      for (const JournalEntry& entry : *entries) {
        visit(entry);
      }
      if (entries->size() < kAtOnce) {
        return {};
      }
      from = entries->back().number + 1;
    }
  }

  /// Each start of a daemon tells its scheduler everything anew.
  void look_for_begin(const JournalEntry& entry) {
    if (std::holds_alternative<Restarted>(entry.input)) {
      begin_ = begin_ ? begin_ : entry.number;
    } else if (const auto* submitted = std::get_if<Submitted>(&entry.input)) {
      look_for_jobs(submitted->first, submitted->count);
    } else if (const auto* restored = std::get_if<Restored>(&entry.input)) {
      look_for_jobs(restored->first, restored->count);
    }
  }

  void look_for_jobs(JobId first, std::uint32_t count) {
    for (std::uint32_t i = 0; !all_known_ && i < count; ++i) {
      const JobId id{first.value + i};
      if (const auto job = store_.job(id); !job && job.error().code == ErrorCode::NotFound) {
        forgotten_ = id;
        begin_ = std::nullopt;
        return;
      }
    }
  }

  /// Whether every job that ever was is on record.
  static bool has_all_jobs(const Store& store) {
    const PhaseCounts& counts = store.counts();
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{1}) == store.next_id().value;
  }

  void fail_with(const Error& error) { problem_ = problem_ ? problem_ : error; }

  /// What the job asked for at this point of the journal: its record has what it asks since.
  std::optional<JobRecord> record_of(JobId id) {
    Result<JobRecord> record = store_.job(id);
    if (!record) {
      fail_with(record.error());
      return std::nullopt;
    }
    JobSpec& spec = record->description.spec;
    spec.owner = owners_.of(record->description.project, record->description.user);
    for (const auto& [number, before] : edits_[id]) {
      if (number > number_) {
        const std::vector<Dependency> after = std::move(spec.after);
        const bool held = spec.held;
        const OwnerId owner = spec.owner;
        spec = before;
        spec.after = after;
        spec.held = held;
        spec.owner = owner;
        break;
      }
    }
    return std::move(*record);
  }

  void take(const Restarted& input) {
    Result<std::unique_ptr<Policy>> policy = make_live_policy(input.policy);
    if (!policy) {
      return fail_with(policy.error());
    }
    scheduler_ = std::make_unique<Scheduler>(std::move(*policy), input.config);
    owners_ = Owners(input.charged_to);
    restoring_ = true;
  }
  void take(const PolicyChanged& input) {
    Result<std::unique_ptr<Policy>> policy = make_live_policy(input.policy);
    if (!policy) {
      return fail_with(policy.error());
    }
    scheduler_->set_policy(std::move(*policy), input.placement);
  }
  void take(const DeviceAdded& input) { scheduler_->add_device(input.device); }
  void take(const Submitted& input) {
    for (std::uint32_t i = 0; i < input.count; ++i) {
      const JobId id{input.first.value + i};
      const auto record = record_of(id);
      if (!record) {
        return;
      }
      if (!makes_sense(scheduler_->find(id) == nullptr)) {
        return;
      }
      expect(scheduler_->apply(Submit{record->description.spec, id, 1, true}, at_));
    }
  }
  void take(const Restored& input) {
    for (std::uint32_t i = 0; i < input.count; ++i) {
      const JobId id{input.first.value + i};
      const auto record = record_of(id);
      if (!record) {
        return;
      }
      Restore command{id,
                      record->description.spec,
                      std::min(record->submitted, at_),
                      input.attempt,
                      input.running,
                      input.starting};
      command.spec.held = input.held;
      command.memory_retries = input.memory_retries;
      if (input.claim) {
        command.spec.needs.memory = *input.claim;
        command.spec.needs.share = *input.claim == Bytes{} ? 0 : command.spec.needs.share;
      }
      if (restoring_) {
        command.spec.begin = std::max(command.spec.begin, input.not_before);
      } else {  // a rerun: as if it had been submitted now
        command.submitted = at_;
        command.spec.begin = {};
        command.spec.after.clear();
      }
      const std::vector<DeviceId> none;
      const std::vector<DeviceId>& devices = input.running ? input.running->devices : none;
      if (!makes_sense(scheduler_->find(id) == nullptr &&
                       std::all_of(devices.begin(), devices.end(),
                                   [this](DeviceId device) { return is_there(device); }))) {
        return;
      }
      scheduler_->apply(command, at_);
    }
  }
  void take(const Edited& input) {
    Edit command{input.job, input.after};
    if (const Job* job = scheduler_->find(input.job); job != nullptr) {
      command.spec.owner = job->owner;  // no edit changes it
    }
    expect(scheduler_->apply(command, at_));
  }
  void take(const Cancel& input) { expect(scheduler_->apply(input, at_)); }
  void take(const Hold& input) { expect(scheduler_->apply(input, at_)); }
  void take(const Release& input) { expect(scheduler_->apply(input, at_)); }
  void take(const Pause& input) { scheduler_->apply(input); }
  void take(const Resume& input) { scheduler_->apply(input); }
  void take(const JobStarted& input) {
    if (makes_sense(is_starting(input.job))) {
      scheduler_->apply(input, at_);
    }
  }
  void take(const JobExited& input) {
    if (makes_sense(has_devices(input.job))) {
      scheduler_->apply(input, at_);
    }
  }
  void take(const JobLost& input) {
    if (makes_sense(has_devices(input.job))) {
      scheduler_->apply(input, at_);
    }
  }
  void take(const DeviceChanged& input) {
    if (makes_sense(is_there(input.device))) {
      scheduler_->apply(input);
    }
  }
  void take(const ForeignUse& input) {
    if (makes_sense(is_there(input.device))) {
      scheduler_->apply(input);
    }
  }
  void take(const DeviceTaken& input) {
    if (makes_sense(is_there(input.device))) {
      scheduler_->apply(input);
    }
  }
  void take(const Reclaim& input) { scheduler_->apply(input); }
  void take(const JobUse& input) {
    if (makes_sense(is_there(input.device) && has_devices(input.job))) {
      scheduler_->apply(input, at_);
    }
  }
  void take(const StartRefused& input) {
    if (!makes_sense(is_starting(input.job) &&
                     std::all_of(input.taken.begin(), input.taken.end(),
                                 [this](DeviceId device) { return is_there(device); }))) {
      return;
    }
    // It never was: no attempt is on record.
    std::vector<StartRecord>& starts = replay_.starts;
    const auto last = std::find_if(starts.rbegin(), starts.rend(), [&](const StartRecord& start) {
      return start.job == input.job;
    });
    if (last != starts.rend()) {
      starts.erase(std::next(last).base());
    }
    scheduler_->apply(input, at_);
  }
  void take(const Stepped&) {
    restoring_ = false;
    ++replay_.decisions;
    for (const Action& action : scheduler_->step(at_)) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        StartRecord record{start->job, start->attempt, at_, {}};
        for (const DeviceId device : start->devices) {
          record.devices.push_back(scheduler_->devices()[device].spec.name);
        }
        replay_.starts.push_back(std::move(record));
      } else if (const auto* ended = std::get_if<JobEnded>(&action)) {
        scheduler_->forget(ended->job);
      }
    }
  }

  // A file may hold anything; a scheduler that is told what cannot be ends the program.

  bool is_there(DeviceId device) const { return device.value < scheduler_->devices().size(); }
  bool has_devices(JobId id) const {
    const Job* job = scheduler_->find(id);
    return job != nullptr && job->lease() != nullptr;
  }
  bool is_starting(JobId id) const {
    const Job* job = scheduler_->find(id);
    return job != nullptr && std::holds_alternative<Starting>(job->state);
  }
  bool makes_sense(bool so) {
    if (!so) {
      fail_with({ErrorCode::Refused,
                 fmt::format("the journal makes no sense at entry {}: it is not what a daemon has "
                             "written, or berth decides otherwise now",
                             number_)});
    }
    return so;
  }

  template <class T>
  void expect(const Result<T>& done) {
    if (!done) {
      replay_.differences.push_back(
          fmt::format("entry {} is refused: {}", number_, done.error().message));
    }
  }

  static std::string words(const StartRecord& start) {
    return fmt::format("job {} attempt {} on {} at {:.9f}", start.job.value, start.attempt,
                       fmt::join(start.devices, ","), to_seconds(start.at.time_since_epoch()));
  }

  void compare() {
    std::map<std::pair<JobId, std::uint16_t>, StartRecord> recorded;
    for (std::uint64_t id = 1; id < store_.next_id().value; ++id) {
      const Result<std::vector<StoredAttempt>> attempts = store_.attempts(JobId{id});
      if (!attempts) {
        continue;  // forgotten
      }
      for (const StoredAttempt& attempt : *attempts) {
        if (attempt.begun >= began_) {
          recorded[{attempt.job, attempt.attempt}] = {attempt.job, attempt.attempt, attempt.begun,
                                                      attempt.devices};
        }
      }
    }
    for (const StartRecord& start : replay_.starts) {
      const auto found = recorded.find({start.job, start.attempt});
      if (found == recorded.end()) {
        replay_.differences.push_back("only replayed: " + words(start));
        continue;
      }
      if (found->second != start) {
        replay_.differences.push_back(
            fmt::format("replayed: {}; recorded: {}", words(start), words(found->second)));
      }
      recorded.erase(found);
    }
    for (const auto& [key, start] : recorded) {
      replay_.differences.push_back("only recorded: " + words(start));
    }
  }

  Store& store_;
  bool all_known_;
  std::optional<std::uint64_t> begin_;  // the entry from which on every job is known
  std::optional<JobId> forgotten_;      // the last that is not
  std::map<JobId, std::vector<std::pair<std::uint64_t, JobSpec>>> edits_;  // by entry
  std::unique_ptr<Scheduler> scheduler_;
  Owners owners_;
  std::uint64_t number_ = 0;
  Time at_{};
  Time began_ = kNever;
  bool restoring_ = false;  // between a restart and its first decision
  std::optional<Error> problem_;
  Replay replay_;
};

}  // namespace

Result<Replay> replay_journal(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) {  // opening a store would make it
    return fail(ErrorCode::NotFound, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  const Result<std::unique_ptr<Store>> store = Store::open(path);
  if (!store) {
    return Failure(store.error());
  }
  return Replayer(**store).run();
}

}  // namespace berth
