#include "cli/selftest/chaos_storm.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "api/messages/job.h"
#include "api/messages/submit.h"
#include "base/paths.h"
#include "cli/selftest/chaos_killer.h"
#include "cli/toolkit/daemon_client.h"
#include "daemon/start.h"
#include "exec/family.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t kDevices = 4;
constexpr auto kPatience = std::chrono::seconds(60);  // that nothing of a round takes undisturbed

/// Whether the process is gone in time.
bool wait_for_end(const Fd& process, milliseconds at_most) {
  pollfd poll{process.get(), POLLIN, 0};
  return !process || ::poll(&poll, 1, static_cast<int>(at_most.count())) == 1;
}

class Storm {
 public:
  Storm(const StormPlan& plan, const std::function<void(const std::string&)>& progress)
      : plan_(plan), progress_(progress), random_(plan.seed), home_(plan.home) {}

  Result<StormResult> run() {
    const Clock::time_point begin = Clock::now();
    if (Result<void> ready = prepare(); !ready) {
      return Failure(ready.error());
    }
    batches_ = plan_chaos(plan_.jobs, random_);
    milliseconds work{};
    for (const std::vector<ChaosJob>& batch : batches_) {
      for (const ChaosJob& job : batch) {
        work += job.length * (job.failures + 1);
        jobs_.push_back(job);
      }
    }
    ChaosKiller killer(
        {home_, plan_.mark, plan_.kills, work / (kDevices * (plan_.kills + 1)), random_.next()});
    const std::vector<ChaosJob> after = std::move(batches_.back());
    batches_.pop_back();
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
    if (Result<void> calm = after.empty() ? Result<void>() : run_after(after); !calm) {
      return Failure(calm.error());
    }
    if (Result<void> checked = check(killer.orphaned()); !checked) {
      return Failure(checked.error());
    }
    check_leftovers();
    result_.jobs = plan_.jobs;
    result_.length = Clock::now() - begin;
    return std::move(result_);
  }

 private:
  Result<void> prepare() {
    if (Result<void> made = make_folder(home_); !made) {
      return made;
    }
    std::error_code error;
    program_ = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error) {
      return fail_errno("cannot find this program", error.value());
    }
    const std::size_t equals = plan_.mark.find('=');
    ::setenv(plan_.mark.substr(0, equals).c_str(), plan_.mark.substr(equals + 1).c_str(), 1);
    ::setenv("BERTH_HOME", home_.c_str(), 1);
    ::setenv("BERTH_LOCKS", (home_ + "/locks").c_str(), 1);
    ::setenv("BERTH_GPUS", fmt::format("sim:{}", kDevices).c_str(), 1);
    return {};
  }

  std::string ledger() const { return home_ + "/ledger"; }

  /// Asks until a daemon lives long enough to answer; starts one where there is none.
  Result<std::string> ask_until_answered(std::string_view method, std::string_view target,
                                         std::string_view body, std::uint32_t& repeated) {
    const Clock::time_point deadline = Clock::now() + kPatience;
    for (;; ++repeated) {
      Result<HttpClient> daemon = connect_daemon(true);
      Result<std::string> answer = daemon ? ask(*daemon, method, target, body)
                                          : Result<std::string>(Failure(daemon.error()));
      if (answer || answer.error().code != ErrorCode::Unavailable || Clock::now() > deadline) {
        return answer;
      }
    }
  }

  Result<void> submit_all() {
    std::size_t done = 0;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      if (Result<void> submitted = submit_or_settle(batches_[i], fmt::format("batch-{}", i));
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

  /// Kills that are left over go to a daemon with nothing to do, which must remember, too.
  Result<void> use_up(std::uint32_t left) {
    result_.kills = plan_.kills - left;
    for (std::uint32_t i = 0; i < left; ++i) {
      if (Result<void> waited = wait_for_all(); !waited) {
        return waited;
      }
      result_.kills += kill_daemon(home_) ? 1 : 0;
    }
    return {};
  }

  /// Whatever was killed, what comes when all is quiet runs.
  Result<void> run_after(const std::vector<ChaosJob>& batch) {
    if (Result<void> submitted = submit(batch, "after"); !submitted) {
      return submitted;
    }
    return wait_for_all();
  }

  /// What a job was to succeed after may have been lost with its shim meanwhile. It then follows
  /// that job however it has ended.
  Result<void> submit_or_settle(std::vector<ChaosJob>& batch, const std::string& token) {
    Result<void> submitted = submit(batch, token);
    if (submitted || submitted.error().code != ErrorCode::Refused) {
      return submitted;
    }
    for (ChaosJob& job : batch) {
      job.when = jobs_[job.number - 1].when = Dependency::When::Any;
    }
    return submit(batch, token);
  }

  Result<void> submit(const std::vector<ChaosJob>& batch, const std::string& token) {
    SubmitRequest request;
    request.token = token;
    request.defaults.directory = home_;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      request.defaults.environment.emplace_back(*entry);
    }
    for (const ChaosJob& job : batch) {
      JobDescription& description = request.jobs.emplace_back().description;
      description.name = std::to_string(job.number);
      description.command = chaos_command(job, program_, ledger());
      description.directory = home_;
      description.spec.needs.gpus = job.gpus;
      description.spec.retry.most = job.retries;
      if (job.after != 0) {
        description.spec.after.push_back({JobId{acknowledged_.at(job.after)}, job.when});
      }
    }
    const Result<std::string> body =
        ask_until_answered("POST", "/v1/jobs", to_json(request), result_.repeated);
    if (!body) {
      return Failure(body.error());
    }
    const Result<SubmitReply> reply = parse_submit_reply(*body);
    if (!reply) {
      return Failure(reply.error());
    }
    if (reply->count != batch.size()) {
      result_.findings.push_back(
          {Finding::Kind::Wrong, fmt::format("{} of {} jobs of a submission were acknowledged",
                                             reply->count, batch.size())});
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      acknowledged_[batch[i].number] = reply->first.value + i;
    }
    return {};
  }

  Result<void> wait_for_all() {
    progress_("waiting for the jobs to end");
    std::uint32_t repeated = 0;
    const Result<std::string> body = ask_until_answered("GET", "/v1/wait", "", repeated);
    return body ? Result<void>() : Failure(body.error());
  }

  Result<void> check(const OrphanedAttempts& orphaned) {
    progress_("checking");
    std::ifstream file(ledger());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const Result<std::vector<LedgerLine>> lines = parse_ledger(text);
    if (!lines) {
      return Failure(lines.error());
    }
    const Result<std::vector<JobOnRecord>> records = read_records();
    if (!records) {
      return Failure(records.error());
    }
    result_.attempts = static_cast<std::uint32_t>(std::count_if(
        lines->begin(), lines->end(), [](const auto& line) { return line.is_start; }));
    for (Finding& finding : check_chaos(jobs_, acknowledged_, *records, *lines, orphaned)) {
      result_.findings.push_back(std::move(finding));
    }
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

  Result<std::vector<JobOnRecord>> read_records() {
    std::vector<JobOnRecord> records;
    std::uint64_t after = 0;
    for (;;) {
      std::uint32_t repeated = 0;
      const Result<std::string> body = ask_until_answered(
          "GET", fmt::format("/v1/jobs?all=1&after={}&limit=1000", after), "", repeated);
      const Result<JobsReply> page = as_message(body, parse_jobs_reply);
      if (!page) {
        return Failure(page.error());
      }
      for (const JobReport& job : page->jobs) {
        JobOnRecord& record = records.emplace_back();
        record.id = job.id.value;
        record.number = static_cast<std::uint32_t>(std::atoi(job.description.name.c_str()));
        record.state = job.state;
        record.attempt = job.attempt;
        record.exit_code = job.exit_code;
        record.signal = job.signal;
      }
      if (!page->next) {
        return records;
      }
      after = page->next->value;
    }
  }

  /// Ends the daemon in the usual way; nothing else may be there then.
  void check_leftovers() {
    const pid_t pid = daemon_of(home_);
    const Fd process = pid > 0 ? open_pid(pid) : Fd();
    if (Result<HttpClient> daemon = connect_daemon(false)) {
      (void)ask(*daemon, "POST", "/v1/daemon/stop").has_value();
    }
    const Clock::time_point deadline = Clock::now() + kPatience;
    if (!wait_for_end(process, kPatience)) {
      result_.findings.push_back({Finding::Kind::Left, "the daemon does not stop"});
    }
    for (const Relative& left : marked(plan_.mark)) {
      // The launcher sees the daemon go and follows.
      const Fd other = open_pid(left.pid);
      const auto time = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
      if (!wait_for_end(other, std::max(time, milliseconds(0)))) {
        result_.findings.push_back(
            {Finding::Kind::Left, fmt::format("process {} is still running", left.pid)});
      }
    }
  }

  const StormPlan& plan_;
  const std::function<void(const std::string&)>& progress_;
  Random random_;
  std::string home_;
  std::string program_;
  std::vector<std::vector<ChaosJob>> batches_;
  std::vector<ChaosJob> jobs_;
  std::map<std::uint32_t, std::uint64_t> acknowledged_;  // ids by number
  StormResult result_;
};

}  // namespace

Result<StormResult> run_storm(const StormPlan& plan,
                              const std::function<void(const std::string&)>& progress) {
  return Storm(plan, progress).run();
}

void end_everything(const std::string& mark) {
  // What forks while it is looked for is found in the next look.
  for (std::vector<Relative> left = marked(mark); !left.empty(); left = marked(mark)) {
    std::vector<Fd> processes;
    for (const Relative& each : left) {
      processes.push_back(open_pid(each.pid));
      if (processes.back() && has_marks(each.pid, {mark})) {
        (void)signal_process(processes.back().get(), SIGKILL);
      }
    }
    for (const Fd& process : processes) {
      (void)wait_for_end(process, std::chrono::seconds(1));
    }
  }
}

}  // namespace berth
