#include "cli/selftest/chaos_ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace berth {
namespace {

using Kind = Finding::Kind;

/// One attempt as its own lines tell it.
struct Attempt {
  std::vector<const LedgerLine*> starts;
  std::vector<const LedgerLine*> ends;
};
using Attempts = std::map<std::pair<std::uint32_t, std::uint16_t>, Attempt>;

std::string end_in_words(std::optional<int> code, std::optional<int> signal) {
  return signal ? fmt::format("signal {}", *signal)
         : code ? fmt::format("exit code {}", *code)
                : std::string("no exit code");
}

class Checker {
 public:
  Checker(const std::vector<LedgerLine>& ledger, const OrphanedAttempts& orphaned)
      : orphaned_(orphaned) {
    for (const LedgerLine& line : ledger) {
      Attempt& attempt = attempts_[{line.number, line.attempt}];
      (line.is_start ? attempt.starts : attempt.ends).push_back(&line);
    }
  }

  void check_record(const ChaosJob& job, std::optional<std::uint64_t> acknowledged,
                    const std::vector<const JobOnRecord*>& records) {
    if (records.empty()) {
      add(Kind::Lost, "job {} was acknowledged and is not on record", job.number);
      return;
    }
    if (records.size() > 1) {
      add(Kind::Twice, "job {} was queued {} times", job.number, records.size());
    }
    const JobOnRecord& record = *records.front();
    if (acknowledged && record.id != *acknowledged) {
      add(Kind::Wrong, "job {} was acknowledged as {} and is on record as {}", job.number,
          *acknowledged, record.id);
    }
    if (record.state == "lost") {
      if (!orphaned_.contains({record.id, record.attempt})) {
        add(Kind::Lost, "job {} (id {}) is called lost", job.number, record.id);
      }
      return;
    }
    const std::string_view state = job.stubborn     ? "cancelled"
                                   : job.succeeds() ? "succeeded"
                                                    : "failed";
    if (record.state != state) {
      add(Kind::Wrong, "job {} (id {}) is {}, and has {}", job.number, record.id, record.state,
          state);
    }
    const std::string truth =
        end_in_words(job.exit_code, job.signal != 0 ? std::optional(job.signal) : std::nullopt);
    const std::string told = end_in_words(record.exit_code, record.signal);
    if (truth != told) {
      add(Kind::Wrong, "job {} (id {}) ended with {}, and {} is on record", job.number, record.id,
          truth, told);
    }
    if (record.attempt != job.failures + 1) {
      add(Kind::Wrong, "job {} (id {}) made {} attempts, and {} are on record", job.number,
          record.id, job.failures + 1, record.attempt);
    }
  }

  /// A job that waited for the success of one that had none: it must not have run.
  void check_cancelled(const ChaosJob& job, const JobOnRecord& record) {
    if (record.state != "cancelled" || record.attempt != 0) {
      add(Kind::Wrong, "job {} (id {}) is {}, and what it follows has not ended as it asked",
          job.number, record.id, record.state);
    }
    if (attempts_.contains({job.number, 1})) {
      add(Kind::Twice, "job {} (id {}) ran, and what it follows has not ended as it asked",
          job.number, record.id);
    }
  }

  void check_attempts(const ChaosJob& job, std::uint64_t id) {
    for (std::uint16_t number = 1; number <= job.failures + 1; ++number) {
      const Attempt& attempt = attempts_[{job.number, number}];
      // Without its shim an attempt goes on, or has never begun.
      const bool orphaned = orphaned_.contains({id, number});
      const auto tell = [&](const char* what, std::size_t times, std::size_t wanted = 1) {
        if (times != wanted && !(orphaned && times == 0)) {
          add(times == 0 ? Kind::Lost : Kind::Twice, "attempt {} of job {} {} {} times", number,
              job.number, what, times);
        }
      };
      tell("started", attempt.starts.size());
      tell("ended", attempt.ends.size(), job.stubborn ? 0 : 1);
      if (!attempt.starts.empty() && attempt.starts.front()->devices.size() != job.gpus) {
        add(Kind::Wrong, "attempt {} of job {} had {} devices, not {}", number, job.number,
            attempt.starts.front()->devices.size(), job.gpus);
      }
    }
  }

  void check_strangers(std::size_t jobs, const std::map<std::uint32_t, const ChaosJob*>& known) {
    for (const auto& [name, attempt] : attempts_) {
      const auto job = known.find(name.first);
      if (name.first == 0 || name.first > jobs || job == known.end() || name.second == 0 ||
          name.second > job->second->failures + 1) {
        add(Kind::Twice, "attempt {} of job {} ran, and nobody asked for it", name.second,
            name.first);
      }
    }
  }

  /// A job starts when the last attempt of the one it follows is over.
  void check_order(const ChaosJob& job, const ChaosJob& other) {
    const Attempt& first = attempts_[{job.number, 1}];
    const Attempt& last = attempts_[{other.number, static_cast<std::uint16_t>(other.failures + 1)}];
    if (!first.starts.empty() && !last.ends.empty() &&
        first.starts.front()->time < last.ends.front()->time) {
      add(Kind::Wrong, "job {} started before job {} had ended, which it follows", job.number,
          other.number);
    }
  }

  void check_devices() {
    struct Hold {
      std::int64_t from;
      std::int64_t to;
      std::pair<std::uint32_t, std::uint16_t> who;
    };
    std::map<std::string, std::vector<Hold>> holds;
    for (const auto& [name, attempt] : attempts_) {
      for (std::size_t i = 0; i < std::min(attempt.starts.size(), attempt.ends.size()); ++i) {
        for (const std::string& device : attempt.starts[i]->devices) {
          holds[device].push_back({attempt.starts[i]->time, attempt.ends[i]->time, name});
        }
      }
    }
    for (auto& [device, all] : holds) {
      std::sort(all.begin(), all.end(),
                [](const Hold& a, const Hold& b) { return a.from < b.from; });
      for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i].from < all[i - 1].to) {
          add(Kind::Shared, "device {} was leased to jobs {} and {} at once", device,
              all[i - 1].who.first, all[i].who.first);
        }
      }
    }
  }

  std::vector<Finding> take() { return std::move(findings_); }

  template <class... Values>
  void add(Kind kind, fmt::format_string<Values...> text, Values&&... values) {
    findings_.push_back({kind, fmt::format(text, std::forward<Values>(values)...)});
  }

 private:
  const OrphanedAttempts& orphaned_;
  Attempts attempts_;
  std::vector<Finding> findings_;
};

/// Whether the one that it follows is on record as ended in a way that lets it run.
bool may_run(const ChaosJob& job, const std::vector<const JobOnRecord*>& other) {
  if (job.after == 0 || other.empty() || job.when == Dependency::When::Any) {
    return true;
  }
  return (other.front()->state == "succeeded") == (job.when == Dependency::When::Ok);
}

}  // namespace

std::string to_text(const LedgerLine& line) {
  return fmt::format("{} {} {} {} {} {} {}\n", line.is_start ? "start" : "end", line.number,
                     line.id, line.attempt,
                     line.devices.empty() ? "-" : fmt::format("{}", fmt::join(line.devices, ",")),
                     line.pid, line.time);
}

Result<std::vector<LedgerLine>> parse_ledger(std::string_view text) {
  std::vector<LedgerLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string whole(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    std::istringstream words(whole);
    LedgerLine line;
    std::string what;
    std::string devices;
    std::string more;
    if (end == text.npos ||
        !(words >> what >> line.number >> line.id >> line.attempt >> devices >> line.pid >>
          line.time) ||
        (what != "start" && what != "end") || words >> more) {
      return fail(ErrorCode::Io, fmt::format("the ledger has a torn line: '{}'", whole));
    }
    line.is_start = what == "start";
    std::istringstream names(devices == "-" ? std::string() : devices);
    for (std::string name; std::getline(names, name, ',');) {
      line.devices.push_back(name);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<Finding> check_chaos(const std::vector<ChaosJob>& jobs,
                                 const std::map<std::uint32_t, std::uint64_t>& acknowledged,
                                 const std::vector<JobOnRecord>& records,
                                 const std::vector<LedgerLine>& ledger,
                                 const OrphanedAttempts& orphaned) {
  Checker checker(ledger, orphaned);
  std::map<std::uint32_t, const ChaosJob*> known;
  for (const ChaosJob& job : jobs) {
    known.emplace(job.number, &job);
  }
  std::map<std::uint32_t, std::vector<const JobOnRecord*>> by_number;
  for (const JobOnRecord& record : records) {
    if (known.contains(record.number)) {
      by_number[record.number].push_back(&record);
    } else {
      checker.add(Finding::Kind::Twice, "job {} is on record, and nobody asked for it", record.id);
    }
  }
  checker.check_strangers(jobs.size(), known);
  for (const ChaosJob& job : jobs) {
    const auto id = acknowledged.find(job.number);
    const std::vector<const JobOnRecord*>& found = by_number[job.number];
    if (!found.empty() && !may_run(job, by_number[job.after])) {
      checker.check_cancelled(job, *found.front());
      continue;
    }
    checker.check_record(job, id == acknowledged.end() ? std::nullopt : std::optional(id->second),
                         found);
    checker.check_attempts(job, id == acknowledged.end() ? 0 : id->second);
    if (job.after != 0) {
      checker.check_order(job, *known.at(job.after));
    }
  }
  checker.check_devices();
  return checker.take();
}

}  // namespace berth
