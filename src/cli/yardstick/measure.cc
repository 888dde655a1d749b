// Taking the figures.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <thread>

#include "api/messages/job.h"
#include "base/fd.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/yardstick/figures.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kThisProgram = "/proc/self/exe";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Starts a program that sees and says nothing. 0 when it cannot be started.
pid_t start_program(const char* path, std::initializer_list<std::string> words) {
  std::vector<std::string> kept(words);
  std::vector<char*> arguments;
  for (std::string& word : kept) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  if (::posix_spawn(&pid, path, &files, nullptr, arguments.data(), environ) != 0) {
    pid = 0;
  }
  ::posix_spawn_file_actions_destroy(&files);
  return pid;
}

/// Waits for one of our own to end.
bool ended_well(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Result<void> run_program(const char* path, std::initializer_list<std::string> words) {
  const pid_t pid = start_program(path, words);
  if (pid == 0 || !ended_well(pid)) {
    return fail(ErrorCode::Io, fmt::format("'{}' failed", fmt::join(words, " ")));
  }
  return {};
}

/// How often a second `once` can be done, one after the other.
Result<double> rate_of(milliseconds length, const std::function<Result<void>()>& once) {
  const Clock::time_point start = Clock::now();
  int done = 0;
  for (; Clock::now() - start < length; ++done) {
    if (Result<void> did = once(); !did) {
      return Failure(did.error());
    }
  }
  return done / seconds_since(start);
}

/// Shells that do nothing, `slots` at a time.
Result<double> measure_shells(unsigned slots, milliseconds length) {
  const Clock::time_point start = Clock::now();
  int done = 0;
  unsigned busy = 0;
  for (bool more = true; more || busy > 0; more = more && Clock::now() - start < length) {
    while (more && busy < slots) {
      if (start_program("/bin/sh", {"sh", "-c", "true"}) == 0) {
        return fail(ErrorCode::Io, "cannot start /bin/sh");
      }
      ++busy;
    }
    if (::waitpid(-1, nullptr, 0) > 0) {
      --busy;
      ++done;
    }
  }
  return done / seconds_since(start);
}

/// What the daemon's own log of changes does at each commit.
Result<BenchSpread> measure_sync(const std::string& path) {
  constexpr std::size_t kSize = std::size_t{2} << 20;
  constexpr std::size_t kEntry = 800;
  const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string zeros(kSize, '\0');
  const auto whole = static_cast<ssize_t>(kSize);
  if (!file || ::pwrite(file.get(), zeros.data(), kSize, 0) != whole || ::fsync(file.get()) != 0) {
    return fail_errno(fmt::format("cannot write {}", path), errno);
  }
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  for (std::size_t at = 0; at + kEntry < kSize && Clock::now() - start < milliseconds(1000);
       at += kEntry) {
    const Clock::time_point before = Clock::now();
    if (::pwrite(file.get(), zeros.data(), kEntry, static_cast<off_t>(at)) < 0 ||
        ::fdatasync(file.get()) != 0) {
      return fail_errno(fmt::format("cannot sync {}", path), errno);
    }
    times.push_back(1000 * seconds_since(before));
  }
  return spread_of(std::move(times));
}

/// How long devices stood idle between two of these jobs, in milliseconds.
Result<std::vector<double>> read_gaps(std::uint64_t jobs) {
  std::map<std::string, std::vector<std::pair<double, double>>> used;  // by device: from, to
  for (std::uint64_t after = 0;;) {
    const Result<JobsReply> page = as_message(
        ask_running_daemon("GET", fmt::format("/v1/jobs?all=1&after={}&limit=1000", after)),
        parse_jobs_reply);
    if (!page) {
      return Failure(page.error());
    }
    for (const JobReport& job : page->jobs) {
      for (const std::string& device : job.gpus) {
        if (job.id.value <= jobs && job.started > 0) {
          used[device].emplace_back(job.started, job.ended);
        }
      }
    }
    if (!page->next) {
      break;
    }
    after = page->next->value;
  }
  std::vector<double> gaps;
  for (auto& [device, times] : used) {
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i) {
      gaps.push_back(1000 * std::max(0.0, times[i].first - times[i - 1].second));
    }
  }
  if (gaps.empty()) {
    return fail(ErrorCode::Io, "no job followed another");
  }
  return gaps;
}

Result<void> measure_daemon(BenchFigures& figures) {
  constexpr int kLeast = 100;
  constexpr int kMost = 10'000;
  const int jobs = std::clamp(static_cast<int>(figures.shells * 2), kLeast, kMost);
  const std::string berth = "berth";
  const Clock::time_point start = Clock::now();
  if (Result<void> done = run_program(
          kThisProgram, {berth, "submit", "--array", fmt::format("1-{}", jobs), "true"});
      !done) {
    return done;
  }
  if (Result<void> done = run_program(kThisProgram, {berth, "wait"}); !done) {
    return done;
  }
  figures.jobs = jobs / seconds_since(start);
  Result<std::vector<double>> gaps = read_gaps(static_cast<std::uint64_t>(jobs));
  if (!gaps) {
    return Failure(gaps.error());
  }
  figures.gap = spread_of(std::move(*gaps));
  const Result<double> submissions = rate_of(milliseconds(1500), [&] {
    return run_program(kThisProgram, {berth, "submit", "true"});
  });
  figures.submissions = submissions.value_or(0);
  return submissions ? Result<void>() : Failure(submissions.error());
}

}  // namespace

Result<BenchFigures> measure(const std::string& folder) {
  BenchFigures figures;
  figures.cores = std::max(1U, std::thread::hardware_concurrency());
  figures.slots = 2 * figures.cores;
  ::setenv("BERTH_HOME", folder.c_str(), 1);
  ::setenv("BERTH_LOCKS", (folder + "/locks").c_str(), 1);
  ::setenv("BERTH_GPUS", fmt::format("sim:{}", figures.slots).c_str(), 1);
  const Result<BenchSpread> sync = measure_sync(folder + "/sync");
  if (!sync) {
    return Failure(sync.error());
  }
  figures.sync = *sync;
  const Result<double> shells = measure_shells(figures.slots, milliseconds(1500));
  const Result<double> starts =
      rate_of(milliseconds(1000), [] { return run_program("/bin/true", {"true"}); });
  if (!shells || !starts) {
    return Failure((shells ? starts : shells).error());
  }
  figures.shells = *shells;
  figures.starts = *starts;
  if (Result<void> started = run_program(kThisProgram, {"berth", "daemon", "start"}); !started) {
    return Failure(started.error());
  }
  const Result<void> measured = measure_daemon(figures);
  // Whatever came of it. Jobs that are left end by themselves at once.
  const Result<void> stopped = run_program(kThisProgram, {"berth", "daemon", "stop"});
  if (!measured || !stopped) {
    return Failure((measured ? stopped : measured).error());
  }
  return figures;
}

}  // namespace berth
