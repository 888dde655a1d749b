#include "replay/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "drive/journal_player.h"
#include "store/store.h"

namespace berth {
namespace {

constexpr std::size_t kAtOnce = 10'000;  // entries of the journal

class Replayer {
 public:
  explicit Replayer(Store& store) : store_(store) {}

  Result<Replay> run() {
    for (std::uint64_t from = 1;;) {
      const Result<std::vector<JournalEntry>> entries = store_.journal().entries(from, kAtOnce);
      if (!entries) {
        return Failure(entries.error());
      }
      for (const JournalEntry& entry : *entries) {
        if (const Result<void> taken = take(entry); !taken) {
          return fail(taken.error().code, fmt::format("the journal makes no sense at entry {}: {}",
                                                      entry.number, taken.error().message));
        }
      }
      if (entries->size() < kAtOnce) {
        break;
      }
      from = entries->back().number + 1;
    }
    if (player_.scheduler() == nullptr) {
      return fail(ErrorCode::Refused,
                  "the journal has no start of a daemon and no checkpoint to begin from");
    }
    compare();
    return std::move(replay_);
  }

 private:
  Result<void> take(const JournalEntry& entry) {
    const Result<void> taken = player_.take(entry.input, entry.time);
    if (!taken) {
      return taken;
    }
    ++(player_.scheduler() == nullptr ? replay_.skipped : replay_.entries);
    if (!player_.refusal().empty()) {
      replay_.differences.push_back(
          fmt::format("entry {} is refused: {}", entry.number, player_.refusal()));
    }
    if (const auto* refused = std::get_if<StartRefused>(&entry.input)) {
      drop_start(refused->job);
    }
    if (std::holds_alternative<Stepped>(entry.input) && player_.scheduler() != nullptr) {
      ++replay_.decisions;
      note_starts(entry.time);
    }
    return {};
  }

  void note_starts(Time at) {
    for (const Action& action : player_.actions()) {
      if (const auto* start = std::get_if<StartJob>(&action)) {
        StartRecord record{start->job, start->attempt, at, {}};
        for (const DeviceId device : start->devices) {
          record.devices.push_back(player_.scheduler()->devices()[device].spec.name);
        }
        replay_.starts.push_back(std::move(record));
      }
    }
  }

  /// It never was: no attempt is on record.
  void drop_start(JobId job) {
    std::vector<StartRecord>& starts = replay_.starts;
    const auto last = std::find_if(starts.rbegin(), starts.rend(),
                                   [&](const StartRecord& start) { return start.job == job; });
    if (last != starts.rend()) {
      starts.erase(std::next(last).base());
    }
  }

  static std::string words(const StartRecord& start) {
    return fmt::format("job {} attempt {} on {} at {:.9f}", start.job.value, start.attempt,
                       fmt::join(start.devices, ","), to_seconds(start.at.time_since_epoch()));
  }

  bool is_forgotten(JobId job) {
    const Result<JobPhase> phase = store_.jobs().phase(job);
    return !phase && phase.error().code == ErrorCode::NotFound;
  }

  void compare() {
    std::map<std::pair<JobId, std::uint16_t>, StartRecord> recorded;
    for (std::uint64_t id = 1; id < store_.jobs().next_id().value; ++id) {
      const Result<std::vector<StoredAttempt>> attempts = store_.attempts().of(JobId{id});
      if (!attempts) {
        continue;  // forgotten
      }
      for (const StoredAttempt& attempt : *attempts) {
        if (attempt.begun > player_.began()) {
          recorded[{attempt.job, attempt.attempt}] = {attempt.job, attempt.attempt, attempt.begun,
                                                      attempt.devices};
        }
      }
    }
    for (const StartRecord& start : replay_.starts) {
      const auto found = recorded.find({start.job, start.attempt});
      if (found == recorded.end()) {
        const bool forgotten = is_forgotten(start.job);
        replay_.forgotten += forgotten ? 1 : 0;
        if (!forgotten) {
          replay_.differences.push_back("only replayed: " + words(start));
        }
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
  JournalPlayer player_;
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
