#include "daemon/start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/paths.h"
#include "base/secret.h"

namespace berth {
namespace {

/// In the child: becomes the daemon. Only returns on failure.
void exec_daemon(const DaemonOptions& options, int ready_fd) {
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(null, fd);
  }
  std::vector<std::string> words = {"berth",
                                    "daemon",
                                    "run",
                                    "--ready-fd",
                                    std::to_string(ready_fd),
                                    "--buffer",
                                    fmt::format("{}B", options.buffer.count)};
  if (!options.gpus.empty()) {
    words.insert(words.end(), {"--gpus", options.gpus});
  }
  if (!options.policy.empty()) {
    words.insert(words.end(), {"--policy", options.policy});
  }
  if (!options.shadow.empty()) {
    words.insert(words.end(), {"--shadow", options.shadow});
  }
  if (options.placement) {
    words.insert(words.end(), {"--placement", std::string(placement_name(*options.placement))});
  }
  if (options.enforce_claims) {
    words.emplace_back("--enforce");
  }
  if (options.oom_risk) {
    words.insert(words.end(), {"--oom-risk", fmt::format("{}", *options.oom_risk)});
  }
  if (!options.listen.empty()) {
    words.insert(words.end(), {"--listen", options.listen});
  }
  if (options.force_listen) {
    words.emplace_back("--force-listen");
  }
  if (options.everyone) {
    words.emplace_back("--everyone");
  }
  if (options.keep_private) {
    words.emplace_back("--private");
  }
  words.insert(words.end(),
               {"--most-queued-per-user", std::to_string(options.per_user.jobs),
                "--most-bytes-per-user", fmt::format("{}B", options.per_user.bytes.count)});
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
}

std::string lock_path(const std::string& folder) { return folder + "/daemon.lock"; }

/// The whole file. A lock of this kind belongs to the process: children that outlive the daemon,
/// such as its launcher, have no part in it, and the kernel says whose it is.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Whoever starts a daemon does so alone: when the next one has its turn, the daemon answers.
Result<Fd> take_turn_to_start() {
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  if (Result<void> made = make_folder(paths->state); !made) {
    return Failure(made.error());
  }
  const std::string path = paths->state + "/start.lock";
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  while (file && ::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  if (!file) {
    return fail_errno(fmt::format("cannot open {}", path), errno);
  }
  return file;
}

}  // namespace

Result<Fd> take_daemon_lock(const std::string& folder) {
  const std::string path = lock_path(folder);
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) {
    return fail_errno(fmt::format("cannot open {}", path), errno);
  }
  struct flock lock = whole_file();
  if (::fcntl(file.get(), F_SETLK, &lock) != 0) {
    lock = whole_file();
    const bool known = ::fcntl(file.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    return fail(ErrorCode::Refused,
                fmt::format("a daemon runs already in {} (berth daemon status){}", folder,
                            known ? fmt::format("; if it cannot be reached, kill -USR1 {} makes it "
                                                "open its socket again",
                                                lock.l_pid)
                                  : ""));
  }
  return file;
}

pid_t daemon_of(const std::string& folder) {
  const Fd file(::open(lock_path(folder).c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock = whole_file();
  return file && ::fcntl(file.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid
                                                                                    : 0;
}

Result<std::string> daemon_token(const std::string& folder) {
  const std::string path = folder + "/token";
  const Fd there(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (there) {
    char text[128];
    const ssize_t got = ::read(there.get(), text, sizeof text);
    std::string token(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    token.erase(token.find_last_not_of("\n") + 1);
    if (token.size() < 32) {
      return fail(ErrorCode::Refused, fmt::format("{} does not hold a token: remove it", path));
    }
    return token;
  }
  Result<std::string> token = random_hex(32);
  if (!token) {
    return token;
  }
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const std::string line = *token + "\n";
  if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return fail_errno(fmt::format("cannot write {}", path), errno);
  }
  return token;
}

Result<void> start_daemon(const DaemonOptions& options) {
  const Result<Fd> turn = take_turn_to_start();
  if (!turn) {
    return Failure(turn.error());
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail_errno("cannot start the daemon", errno);
  }
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail_errno("cannot start the daemon", errno);
  }
  if (child == 0) {
    // A second fork, so that nobody has to reap the daemon.
    if (::fork() == 0) {
      ::fcntl(writer.get(), F_SETFD, 0);
      exec_daemon(options, writer.get());
    }
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  writer.reset();
  std::string answer;
  char buffer[1024];
  for (;;) {
    const ssize_t got = ::read(reader.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  if (answer == "ok") {
    return {};
  }
  return fail(ErrorCode::Unavailable, answer.empty() ? "the daemon ended before it was ready"
                                                     : "the daemon cannot start: " + answer);
}

}  // namespace berth
