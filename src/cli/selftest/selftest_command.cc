// `berth selftest`: shows on the user's own machine that nothing is lost when the daemon is killed.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "api/json_writer.h"
#include "cli/commands.h"
#include "cli/selftest/chaos_leftovers.h"
#include "cli/selftest/chaos_storm.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kSelftestName = "berth selftest";
constexpr int kInterrupted = 130;

struct SelftestOptions {
  bool chaos = false;
  bool json = false;
  std::int64_t minutes = 1;
  std::int64_t rounds = 0;  // 0: as many as the minutes allow
  std::int64_t jobs = 300;
  std::int64_t kills = 5;
  std::int64_t seed = 0;
};

std::size_t count(const StormResult& round, Finding::Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(round.findings.begin(), round.findings.end(),
                    [&](const Finding& finding) { return finding.kind == kind; }));
}

constexpr std::pair<Finding::Kind, const char*> kKinds[] = {
    {Finding::Kind::Lost, "LOST"},   {Finding::Kind::Twice, "TWICE"},
    {Finding::Kind::Wrong, "WRONG"}, {Finding::Kind::Shared, "SHARED"},
    {Finding::Kind::Left, "LEFT"},
};
static_assert(std::size(kKinds) == kFindingKinds);

StormResult total_of(const std::vector<StormResult>& rounds) {
  StormResult total;
  for (const StormResult& round : rounds) {
    total.jobs += round.jobs;
    total.attempts += round.attempts;
    total.kills += round.kills;
    total.launchers += round.launchers;
    total.shims += round.shims;
    total.forced += round.forced;
    total.lost += round.lost;
    total.repeated += round.repeated;
    total.length += round.length;
    total.findings.insert(total.findings.end(), round.findings.begin(), round.findings.end());
  }
  return total;
}

void write(JsonWriter& json, const StormResult& round) {
  json.object([&] {
    json.field("jobs", round.jobs);
    json.field("attempts", round.attempts);
    json.field("kills", round.kills);
    json.field("launcher_kills", round.launchers);
    json.field("shim_kills", round.shims);
    json.field("forced", round.forced);
    json.field("lost_with_shim", round.lost);
    json.field("repeated_submissions", round.repeated);
    json.field("seconds", round.length.count());
    for (const auto& [kind, name] : kKinds) {
      std::string key(name);
      for (char& c : key) {
        c = static_cast<char>(std::tolower(c));
      }
      json.field(key, count(round, kind));
    }
    json.array("findings", [&] {
      for (const Finding& finding : round.findings) {
        json.value(finding.text);
      }
    });
  });
}

void print_rounds_json(std::int64_t seed, const std::vector<StormResult>& rounds) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("seed", seed);
    json.array("rounds", [&] {
      for (const StormResult& round : rounds) {
        write(json, round);
      }
    });
    json.key("total");
    write(json, total_of(rounds));
  });
  fmt::print("{}\n", json.take());
}

void print_round_table(const std::vector<StormResult>& rounds) {
  Table table;
  for (const char* header : {"ROUND", "JOBS", "ATTEMPTS", "KILLS", "LAUNCHERS", "SHIMS", "FORCED",
                             "ORPHANED", "RESENT", "TIME"}) {
    table.column(header, Align::Right);
  }
  for (const auto& [kind, name] : kKinds) {
    table.column(name, Align::Right);
  }
  const auto add = [&](std::string title, const StormResult& round) {
    std::vector<Cell> cells = {std::move(title),
                               std::to_string(round.jobs),
                               std::to_string(round.attempts),
                               std::to_string(round.kills),
                               std::to_string(round.launchers),
                               std::to_string(round.shims),
                               std::to_string(round.forced),
                               std::to_string(round.lost),
                               std::to_string(round.repeated),
                               fmt::format("{:.1f}s", round.length.count())};
    for (const auto& [kind, name] : kKinds) {
      const std::size_t found = count(round, kind);
      cells.emplace_back(std::to_string(found), found == 0 ? Colour::Plain : Colour::Red);
    }
    table.row(std::move(cells));
  };
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    add(std::to_string(i + 1), rounds[i]);
  }
  const StormResult total = total_of(rounds);
  add("all", total);
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  std::fputs(table.render(terminal.columns, terminal.colour).c_str(), stdout);
  constexpr std::size_t kMostShown = 20;
  for (std::size_t i = 0; i < std::min(total.findings.size(), kMostShown); ++i) {
    fmt::print("{}\n", total.findings[i].text);
  }
  if (total.findings.size() > kMostShown) {
    fmt::print("… and {} more\n", total.findings.size() - kMostShown);
  }
  fmt::print("{} jobs, {} times kill -9 of the daemon, {} of its launcher, {} of a shim: {}\n",
             total.jobs, total.kills, total.launchers, total.shims,
             !total.findings.empty() ? fmt::format("{} findings", total.findings.size())
             : total.lost > 0
                 ? fmt::format("{} were lost with their shims; nothing else was lost, run twice or "
                               "reported wrongly",
                               total.lost)
                 : std::string("nothing was lost, run twice or reported wrongly"));
}

/// The rounds themselves; the exit code.
int run_rounds(const SelftestOptions& options, const std::string& folder, const std::string& mark) {
  const bool interactive = describe_terminal(STDERR_FILENO).interactive;
  const Clock::time_point end = Clock::now() + std::chrono::minutes(options.minutes);
  Random seeds(static_cast<std::uint64_t>(options.seed));
  std::vector<StormResult> rounds;
  const auto more = [&] {
    return options.rounds > 0 ? static_cast<std::int64_t>(rounds.size()) < options.rounds
                              : rounds.empty() || Clock::now() < end;
  };
  bool sound = true;
  while (sound && more()) {
    StormPlan plan;
    plan.home = fmt::format("{}/{}", folder, rounds.size() + 1);
    plan.jobs = static_cast<std::uint32_t>(options.jobs);
    plan.kills = static_cast<std::uint32_t>(options.kills);
    plan.seed = seeds.next();
    plan.mark = mark;
    const Result<StormResult> round = run_storm(plan, [&](const std::string& text) {
      if (interactive) {
        fmt::print(stderr, "\r\x1b[Kround {}: {}", rounds.size() + 1, text);
      }
    });
    if (interactive) {
      std::fputs("\r\x1b[K", stderr);
    }
    if (!round) {
      (void)report(kSelftestName, round.error());
      return 1;
    }
    sound = round->findings.empty();
    rounds.push_back(*round);
    if (sound) {
      std::error_code ignored;
      std::filesystem::remove_all(plan.home, ignored);
    }
  }
  if (options.json) {
    print_rounds_json(options.seed, rounds);
  } else {
    print_round_table(rounds);
  }
  return sound ? 0 : 1;
}

/// Waits for the child, or ends it when the user has had enough. Its exit code.
int watch_over(pid_t child, const sigset_t& signals) {
  for (;;) {
    const int signal = ::sigwaitinfo(&signals, nullptr);
    int status = 0;
    if (signal == SIGCHLD && ::waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      return kInterrupted;
    }
  }
}

/// The rounds run in a child, so that whatever happens to them somebody is left to tidy up.
int supervise(const SelftestOptions& options) {
  std::error_code error;
  std::string folder =
      (std::filesystem::temp_directory_path(error) / "berth-chaos-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return report(kSelftestName,
                  Error{ErrorCode::Io, fmt::format("cannot make a folder {}: set TMPDIR to "
                                                   "a folder that can be written",
                                                   folder)});
  }
  const std::string mark = "BERTH_CHAOS=" + folder;
  sigset_t signals;
  sigset_t before;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&signals, signal);
  }
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  fmt::print(stderr, "seed {}\n", options.seed);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A key that reaches both is the parent's to handle; the daemon and its jobs never see it.
    ::signal(SIGINT, SIG_IGN);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    const int code = run_rounds(options, folder, mark);
    std::fflush(nullptr);
    ::_exit(code);
  }
  const int code = child > 0 ? watch_over(child, signals) : 1;
  end_everything(mark);
  if (code == 1) {
    fmt::print(stderr, "{}: everything is kept in {}\n", kSelftestName, folder);
  } else {
    std::filesystem::remove_all(folder, error);
  }
  return code;
}

Args::Setter at_least_one(std::int64_t& out, std::int64_t most) {
  return [&out, most](std::string_view text) -> Result<void> {
    const Result<std::int64_t> number = parse_integer(text, "the value");
    if (!number || *number < 1 || *number > most) {
      return fail(ErrorCode::Usage, fmt::format("must be 1 to {}, not '{}'", most, text));
    }
    out = *number;
    return {};
  };
}

}  // namespace

int selftest_main(Words words) {
  SelftestOptions options;
  // Small enough to be read aloud.
  options.seed = std::random_device{}() % 1'000'000;
  constexpr std::int64_t kMany = 1'000'000;
  Args args("berth selftest --chaos [options]",
            "Shows that no job is lost, run twice or reported wrongly when the daemon is killed: "
            "queues\njobs on simulated devices in a folder of their own, kills the daemon at "
            "random moments with\nSIGKILL, lets the next command start it again, and holds what "
            "the jobs wrote themselves\nagainst what is on record. Launchers and shims are killed, "
            "too, and jobs by force; only a job\nwhose own shim was killed may be lost. Your own "
            "queue and devices are not touched.");
  args.flag("--chaos", options.chaos, "kill the daemon (the one test there is)");
  args.value("--minutes", "N", "go on with further rounds for this long (default: 1)",
             at_least_one(options.minutes, kMany));
  args.value("--rounds", "N", "make this many rounds, however long they take",
             at_least_one(options.rounds, kMany));
  args.value("--jobs", "N", "jobs in a round (default: 300)", at_least_one(options.jobs, kMany));
  args.value("--kills", "N", "kills of each kind in a round (default: 5)",
             at_least_one(options.kills, kMany));
  args.value("--seed", "N", "the same jobs and kills as a run that printed this seed",
             options.seed);
  args.flag("--json", options.json, "print JSON");
  args.example("berth selftest --chaos --minutes 10");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kSelftestName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (!options.chaos) {
    return report(kSelftestName, Error{ErrorCode::Usage, "say which test: --chaos"});
  }
  return supervise(options);
}

}  // namespace berth
