// berth sim --advise: which policy would have served these jobs best.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "api/messages/advice.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "sim/advice.h"

namespace berth {
namespace {

/// The waits of all jobs under each policy, trial after trial.
Result<std::vector<Waits>> waits_of(const SimCommandOptions& options, const PreparedStudy& study) {
  std::vector<std::vector<Waits>> by_trial(study.contenders.size(),
                                           std::vector<Waits>(study.trials.size()));
  const bool shows = ::isatty(STDERR_FILENO) == 1;
  std::size_t done = 0;
  const auto seen = [&](std::size_t contender, std::size_t trial, const SimRun& run) {
    const std::vector<SimJob>& jobs = study.trials[trial].workload.jobs;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const JobOutcome& outcome = run.outcomes[i];
      by_trial[contender][trial].push_back(
          to_seconds(outcome.ended - jobs[i].submit - outcome.ran));
    }
    if (shows) {
      fmt::print(stderr, "\r{} of {} runs", ++done, study.contenders.size() * study.trials.size());
    }
  };
  const auto ran = run_study(study.contenders, study.trials, study.machine, options.study, seen);
  if (shows) {
    fmt::print(stderr, "\r\033[K");
  }
  if (!ran) {
    return Failure(ran.error());
  }
  std::vector<Waits> waits(study.contenders.size());
  for (std::size_t i = 0; i < waits.size(); ++i) {
    for (const Waits& trial : by_trial[i]) {
      waits[i].insert(waits[i].end(), trial.begin(), trial.end());
    }
  }
  return waits;
}

std::optional<AdviceReply::Change> told(const Change& change, bool known) {
  return known ? std::optional(AdviceReply::Change{change.mean, change.low, change.high})
               : std::nullopt;
}

AdviceReply reply_of(const Advice& advice) {
  AdviceReply reply;
  reply.sentence = advice.sentence;
  reply.in_use = advice.in_use;
  reply.best = advice.best;
  reply.enough = advice.enough;
  reply.jobs = advice.jobs;
  reply.blocks = advice.blocks;
  for (const Candidate& one : advice.candidates) {
    const bool known = advice.enough && one.policy != advice.in_use;
    reply.results.push_back({one.policy, !one.preempts, one.mean_wait_s, one.p99_wait_s,
                             one.longest_wait_s, told(one.mean_change, known),
                             told(one.p99_change, known)});
  }
  return reply;
}

std::string time_cell(double seconds) {
  return format_duration(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(std::min(seconds, 9e9))));
}

/// "-21 % (-30 to -12)".
std::string change_cell(const std::optional<AdviceReply::Change>& change) {
  return change ? fmt::format("{:+.0f} % ({:+.0f} to {:+.0f})", 100 * change->mean,
                              100 * change->low, 100 * change->high)
                : "";
}

void print(const AdviceReply& reply) {
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  Table table;
  table.column("POLICY");
  for (const std::string_view name :
       {"WAIT", "CHANGE (95 %)", "P99 WAIT", "CHANGE (95 %)", "LONGEST"}) {
    table.column(std::string(name), Align::Right);
  }
  table.column("");
  for (const AdviceReply::Row& row : reply.results) {
    table.row({row.policy, time_cell(row.mean_wait_s), change_cell(row.mean_wait_change),
               time_cell(row.p99_wait_s), change_cell(row.p99_wait_change),
               time_cell(row.longest_wait_s),
               row.policy == reply.in_use ? "in use"
               : !row.live                ? "only in the simulator"
                                          : ""});
  }
  fmt::print("{}\n\n{}", wrap_words(reply.sentence, terminal.columns),
             table.render(terminal.columns, terminal.colour));
  if (reply.enough) {
    fmt::print("{} jobs, drawn in {} blocks of neighbours\n", reply.jobs, reply.blocks);
  }
}

}  // namespace

Result<void> choose_advised(SimCommandOptions& options, PreparedStudy& study) {
  if (options.policies.empty()) {
    const bool several =
        std::any_of(study.trials.begin(), study.trials.end(), [](const Trial& trial) {
          const std::vector<SimJob>& jobs = trial.workload.jobs;
          return std::any_of(jobs.begin(), jobs.end(),
                             [&](const SimJob& job) { return job.owner != jobs.front().owner; });
        });
    options.policies = advised_policies(study.in_use, several);
  }
  if (options.placements.size() > 1) {
    return fail(ErrorCode::Usage, "--advise compares policies: give one --placement");
  }
  return prepare_contenders(options, study);
}

int advise_nothing(const SimCommandOptions& options, const Error& why) {
  AdviceReply reply;
  reply.sentence = fmt::format("No advice yet: {}.", why.message);
  reply.enough = false;
  fmt::print("{}\n", options.json ? to_json(reply) : reply.sentence);
  return 0;
}

Result<int> advise_prepared(const SimCommandOptions& options, const PreparedStudy& study) {
  const Result<std::vector<Waits>> waits = waits_of(options, study);
  if (!waits) {
    return Failure(waits.error());
  }
  const AdviceReply reply = reply_of(advise(options.policies, *waits));
  if (options.json) {
    fmt::print("{}\n", to_json(reply));
  } else {
    print(reply);
  }
  return 0;
}

}  // namespace berth
