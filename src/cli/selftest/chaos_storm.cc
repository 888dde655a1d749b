#include "cli/selftest/chaos_storm.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/paths.h"
#include "cli/selftest/chaos_daemon.h"
#include "cli/selftest/chaos_killer.h"
#include "cli/selftest/chaos_leftovers.h"
#include "cli/selftest/chaos_submissions.h"

namespace berth {
namespace {

constexpr std::uint32_t kStormDevices = 4;

/// Makes the home, and all that is started from here on use it. Returns the path of this program.
Result<std::string> prepare_storm(const StormPlan& plan) {
  if (Result<void> made = make_folder(plan.home); !made) {
    return Failure(made.error());
  }
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) {
    return fail_errno("cannot find this program", error.value());
  }
  const std::size_t equals = plan.mark.find('=');
  ::setenv(plan.mark.substr(0, equals).c_str(), plan.mark.substr(equals + 1).c_str(), 1);
  ::setenv("BERTH_HOME", plan.home.c_str(), 1);
  ::setenv("BERTH_LOCKS", (plan.home + "/locks").c_str(), 1);
  ::setenv("BERTH_GPUS", fmt::format("sim:{}", kStormDevices).c_str(), 1);
  return program;
}

using ChaosBatches = std::vector<std::vector<ChaosJob>>;

std::vector<ChaosJob> all_jobs(const ChaosBatches& batches) {
  std::vector<ChaosJob> jobs;
  for (const std::vector<ChaosJob>& batch : batches) {
    jobs.insert(jobs.end(), batch.begin(), batch.end());
  }
  return jobs;
}

/// How long one device would be busy with all of them.
std::chrono::milliseconds work_of(const ChaosBatches& batches) {
  std::chrono::milliseconds work{};
  for (const std::vector<ChaosJob>& batch : batches) {
    for (const ChaosJob& job : batch) {
      work += job.length * (job.failures + 1);
    }
  }
  return work;
}

/// One round in a home that is prepared: submits, kills, waits and checks.
class Storm {
 public:
  Storm(const StormPlan& plan, std::string program,
        const std::function<void(const std::string&)>& progress)
      : plan_(plan),
        progress_(progress),
        random_(plan.seed),
        batches_(plan_chaos(plan.jobs, random_)),
        submissions_(plan.home, std::move(program), all_jobs(batches_)) {}

  Result<StormResult> run() {
    ChaosKiller killer({plan_.home, plan_.mark, plan_.kills,
                        work_of(batches_) / (kStormDevices * (plan_.kills + 1)), random_.next()});
    if (Result<void> submitted = submit_all(); !submitted) {
      return Failure(submitted.error());
    }
    if (Result<void> waited = wait_for_all(); !waited) {
      return Failure(waited.error());
    }
    killer.stop();
    if (Result<void> killed = use_up(killer.daemons_left()); !killed) {
      return Failure(killed.error());
    }
    result_.launchers = killer.launchers();
    result_.shims = killer.shims();
    if (Result<void> calm = run_after(batches_.back()); !calm) {
      return Failure(calm.error());
    }
    if (Result<void> checked = check(killer.orphaned()); !checked) {
      return Failure(checked.error());
    }
    add(check_leftovers(plan_.home, plan_.mark));
    result_.jobs = plan_.jobs;
    result_.repeated = submissions_.repeated();
    return std::move(result_);
  }

 private:
  /// All batches but the last, which comes when all is quiet.
  Result<void> submit_all() {
    std::size_t done = 0;
    for (std::size_t i = 0; i + 1 < batches_.size(); ++i) {
      if (Result<void> submitted =
              submissions_.submit_or_settle(batches_[i], fmt::format("batch-{}", i));
          !submitted) {
        return submitted;
      }
      done += batches_[i].size();
      progress_(fmt::format("{} of {} jobs queued", done, plan_.jobs));
      // Spread out, so that kills fall between and into submissions.
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(30'000)));
    }
    return {};
  }

  Result<void> wait_for_all() {
    progress_("waiting for the jobs to end");
    return wait_for_chaos_jobs();
  }

  /// Kills that are left over go to a daemon with nothing to do, which must remember, too.
  Result<void> use_up(std::uint32_t left) {
    result_.kills = plan_.kills - left;
    for (std::uint32_t i = 0; i < left; ++i) {
      if (Result<void> waited = wait_for_all(); !waited) {
        return waited;
      }
      result_.kills += kill_daemon(plan_.home) ? 1 : 0;
    }
    return {};
  }

  /// Whatever was killed, what comes when all is quiet runs.
  Result<void> run_after(const std::vector<ChaosJob>& batch) {
    if (batch.empty()) {
      return {};
    }
    if (Result<void> submitted = submissions_.submit(batch, "after"); !submitted) {
      return submitted;
    }
    return wait_for_all();
  }

  Result<void> check(const OrphanedAttempts& orphaned) {
    progress_("checking");
    std::ifstream file(submissions_.ledger());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const Result<std::vector<LedgerLine>> lines = parse_ledger(text);
    if (!lines) {
      return Failure(lines.error());
    }
    const Result<std::vector<JobOnRecord>> records = read_chaos_records();
    if (!records) {
      return Failure(records.error());
    }
    add(submissions_.findings());
    add(submissions_.check(*records, *lines, orphaned));
    result_.attempts = static_cast<std::uint32_t>(std::count_if(
        lines->begin(), lines->end(), [](const auto& line) { return line.is_start; }));
    const auto count = [&](std::string_view state, const auto& is_one) {
      return static_cast<std::uint32_t>(std::count_if(
          records->begin(), records->end(),
          [&](const JobOnRecord& record) { return record.state == state && is_one(record); }));
    };
    result_.forced =
        count("cancelled", [](const JobOnRecord& record) { return record.signal == SIGKILL; });
    result_.lost = count("lost", [&](const JobOnRecord& record) {
      return orphaned.contains({record.id, record.attempt});
    });
    return {};
  }

  void add(const std::vector<Finding>& findings) {
    result_.findings.insert(result_.findings.end(), findings.begin(), findings.end());
  }

  const StormPlan& plan_;
  const std::function<void(const std::string&)>& progress_;
  Random random_;
  ChaosBatches batches_;  // the last comes when the storm is over
  ChaosSubmissions submissions_;
  StormResult result_;
};

}  // namespace

Result<StormResult> run_storm(const StormPlan& plan,
                              const std::function<void(const std::string&)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  Result<std::string> program = prepare_storm(plan);
  if (!program) {
    return Failure(program.error());
  }
  Result<StormResult> result = Storm(plan, std::move(*program), progress).run();
  if (result) {
    result->length = std::chrono::steady_clock::now() - begin;
  }
  return result;
}

}  // namespace berth
