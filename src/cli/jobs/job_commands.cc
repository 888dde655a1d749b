// Commands that change jobs: kill, hold, release, pause, resume, rerun, edit and forget.
#include <fmt/format.h>

#include "api/http_text.h"
#include "api/messages/command.h"
#include "api/messages/edit.h"
#include "base/signals.h"
#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/job_options.h"
#include "cli/toolkit/selection.h"

namespace berth {
namespace {

/// A request that changes jobs, and how its user wants it done.
struct JobChange {
  bool json = false;
  bool yes = false;  // without a question
  std::string target;
  std::string body;

  void declare(Args& args) {
    args.flag("-y,--yes", yes, "do not ask, however many jobs it is");
    args.flag("--json", json, "print JSON");
  }
};

/// Tells what a command did: `did` is "held {}", of "job 12" or "3 jobs".
int tell_jobs(std::string_view name, std::string_view did, const Selection& selection,
              const Result<std::string>& answer, bool json) {
  const Result<CommandReply> reply = as_message(answer, parse_command_reply);
  if (!reply) {
    return report(name, reply.error());
  }
  if (json) {
    fmt::print("{}\n", *answer);
    return 0;
  }
  const bool one = reply->done == 1 && selection.words().size() == 1 && selection.one_by_one();
  fmt::print(stderr, "{}\n",
             fmt::format(fmt::runtime(did),
                         one ? "job " + selection.words()[0]
                             : fmt::format("{} job{}", reply->done, reply->done == 1 ? "" : "s")));
  for (const std::string& reason : reply->reasons) {
    fmt::print(stderr, "{}: {}\n", name, reason);
  }
  if (const std::size_t told = reply->reasons.size(); reply->refused > told) {
    fmt::print(stderr, "{}: and {} more\n", name, reply->refused - told);
  }
  return reply->refused > 0 ? 1 : 0;
}

template <class T>
Result<void> set(std::optional<T>& out, const Result<T>& value) {
  if (!value) {
    return Failure(value.error());
  }
  out = *value;
  return {};
}

/// The states in which jobs are that a command means when it is not given numbers.
std::string_view states_of(std::string_view verb) {
  return verb == "hold"                        ? "state=queued"
         : verb == "release"                   ? "state=held"
         : verb == "edit"                      ? "state=held,queued"
         : verb == "pause" || verb == "resume" ? "state=running"
         : verb == "rerun"                     ? "state=ended"
                                               : "state=live";
}

/// Sends what changes jobs, unless somebody at a terminal thinks better of it.
int change_jobs(std::string_view verb, std::string_view did, const Selection& selection,
                const JobChange& change) {
  const std::string name = fmt::format("berth {}", verb);
  const Result<bool> sure =
      change.yes ? Result<bool>(true) : confirm(verb, selection, states_of(verb));
  if (!sure) {
    return report(name, sure.error());
  }
  if (!*sure) {
    fmt::print(stderr, "{}: nothing was changed\n", name);
    return 1;
  }
  return tell_jobs(name, did, selection, ask_daemon("POST", change.target, change.body),
                   change.json);
}

/// Declares the options that change a job.
void declare_changes(Args& args, EditRequest& changes) {
  const auto integer = [](std::optional<std::int64_t>& out, const char* what) {
    return [&out, what](std::string_view text) { return set(out, parse_integer(text, what)); };
  };
  const auto duration = [](std::optional<Duration>& out) {
    return [&out](std::string_view text) { return set(out, parse_duration(text)); };
  };
  const auto text = [](std::optional<std::string>& out) {
    return [&out](std::string_view value) -> Result<void> {
      out = value;
      return {};
    };
  };
  args.value("-p,--priority", "N", "lower runs first", integer(changes.priority, "priority"));
  args.value("--weight", "N", "its owner's share beside others", integer(changes.weight, "weight"));
  args.value("-g,--gpus", "N", "GPUs that the job needs", integer(changes.gpus_needed, "gpus"));
  args.value("--mem", "SIZE", "GPU memory that it claims on each: a size, auto or off",
             [&](std::string_view word) -> Result<void> {
               const Result<Claim> claim = parse_claim(word);
               if (!claim) {
                 return Failure(claim.error());
               }
               changes.mem = claim->memory;
               changes.claim = claim->source;
               return {};
             });
  args.value("--command", "TEXT", "what to run instead", text(changes.command));
  args.value("--name", "NAME", "its name", text(changes.name));
  args.value("--timeout", "TIME", "the longest it may run (0: no limit)",
             duration(changes.timeout));
  args.value("--expected", "TIME", "how long it is expected to run", duration(changes.expected));
  args.value("--on", "TARGET", "where it runs: local, auto, slurm or a cluster's name",
             text(changes.on));
  args.value("--retries", "N", "run it again when it fails", integer(changes.retries, "retries"));
  args.value("--begin", "WHEN", "not before: 2h (from now), 18:30, 2026-11-16T08:00",
             [&](std::string_view when) { return set(changes.begin, parse_begin(when)); });
}

/// A command that takes jobs and nothing else.
int verb_main(std::string_view verb, std::string_view did, std::string_view summary, Words words) {
  Selection selection;
  JobChange change;
  Args args(fmt::format("berth {} JOBS…", verb), std::string(summary));
  selection.declare(args, 1);
  change.declare(args);
  args.example(fmt::format("berth {} 12 20-29", verb));
  args.example(fmt::format("berth {} sweep=lr-search", verb));
  const std::string name = fmt::format("berth {}", verb);
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(name, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  change.target = fmt::format("/v1/jobs/{}?{}", verb, selection.query());
  return change_jobs(verb, did, selection, change);
}

}  // namespace

int hold_main(Words words) {
  return verb_main("hold", "held {}", "Keeps queued jobs from starting.", words);
}
int release_main(Words words) {
  return verb_main("release", "released {}", "Lets held jobs start.", words);
}
int pause_main(Words words) {
  return verb_main("pause", "paused {}",
                   "Stops running jobs where they are (SIGSTOP). They keep their devices, and\n"
                   "what they have in GPU memory stays there; their time limits go on counting.\n"
                   "(berth daemon pause keeps new jobs from starting instead.)",
                   words);
}
int resume_main(Words words) {
  return verb_main("resume", "resumed {}", "Lets paused jobs go on (SIGCONT).", words);
}
int rerun_main(Words words) {
  Selection selection;
  EditRequest changes;
  JobChange change;
  Args args("berth rerun JOBS… [options]",
            "Queues jobs again that have ended, changed as the options say. They keep their\n"
            "numbers; the records and logs of their earlier attempts stay.");
  selection.declare(args, 1);
  declare_changes(args, changes);
  change.declare(args);
  args.example("berth rerun 12 20-29");
  args.example("berth rerun state=failed sweep=lr-search");
  args.example("berth rerun state=oom --mem 20GiB");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth rerun", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  change.target = "/v1/jobs/rerun?" + selection.query();
  if (changes != EditRequest{}) {
    change.body = to_json(changes);
  }
  return change_jobs("rerun", "queued {} again", selection, change);
}

int kill_main(Words words) {
  Selection selection;
  std::string signal;
  JobChange change;
  Args args("berth kill JOBS… [options]",
            "Ends jobs: those that wait leave the queue, those that run are asked to end (TERM),\n"
            "killed after a grace of 10 seconds, and killed at once when asked again.");
  selection.declare(args, 1);
  args.value("-s,--signal", "SIGNAL", "only send this signal to the processes of running jobs",
             signal);
  change.declare(args);
  args.example("berth kill 12");
  args.example("berth kill project=vision state=queued");
  args.example("berth kill --signal USR1 12");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth kill", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  change.target = "/v1/jobs/kill?" + selection.query();
  if (!signal.empty()) {
    const Result<int> number = parse_signal(signal);
    if (!number) {
      return report("berth kill", number.error());
    }
    change.target = fmt::format("/v1/jobs/signal?signal={}&{}", *number, selection.query());
  }
  return change_jobs("kill", signal.empty() ? "killed {}" : "sent the signal to {}", selection,
                     change);
}

int edit_main(Words words) {
  Selection selection;
  EditRequest changes;
  JobChange change;
  Args args("berth edit JOBS… [options]", "Changes jobs that wait.");
  selection.declare(args, 1);
  declare_changes(args, changes);
  change.declare(args);
  args.example("berth edit 12 --priority -5");
  args.example("berth edit project=vision --gpus 2 --mem 20GiB");
  args.example("berth edit 12 --command 'python train.py --lr 0.01' --begin 22:00");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth edit", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (changes == EditRequest{}) {
    return report("berth edit", Error{ErrorCode::Usage, "say what to change (--help lists it)"});
  }
  change.target = "/v1/jobs/edit?" + selection.query();
  change.body = to_json(changes);
  return change_jobs("edit", "changed {}", selection, change);
}

int forget_main(Words words) {
  std::string older;
  std::vector<std::string> states;
  bool json = false;
  Args args("berth forget --older TIME [--state STATE…]",
            "Deletes the records of jobs that ended long ago, with the logs that berth keeps of\n"
            "them. Output files that jobs were told to write are left alone.");
  args.value("--older", "TIME", "those that ended longer ago than this (0s: all that ended)",
             older);
  args.value("--state", "STATE", "only those that ended so: succeeded, failed, …; may be repeated",
             [&](std::string_view state) -> Result<void> {
               states.emplace_back(state);
               return {};
             });
  args.flag("--json", json, "print JSON");
  args.example("berth forget --older 30d");
  args.example("berth forget --older 0s --state succeeded --state cancelled");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth forget", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (older.empty()) {
    return report("berth forget", Error{ErrorCode::Usage, "say how old: --older 30d"});
  }
  std::string target = "/v1/jobs/forget?older=" + percent_encode(older);
  for (const std::string& state : states) {
    target += "&select=" + percent_encode("state=" + state);
  }
  ForgetReply all;
  do {
    const Result<ForgetReply> some = as_message(ask_daemon("POST", target), parse_forget_reply);
    if (!some) {
      return report("berth forget", some.error());
    }
    all.forgotten += some->forgotten;
    all.more = some->more;
  } while (all.more);
  if (json) {
    fmt::print("{}\n", to_json(all));
  } else {
    fmt::print("forgot {} {}\n", all.forgotten, all.forgotten == 1 ? "job" : "jobs");
  }
  return 0;
}

}  // namespace berth
