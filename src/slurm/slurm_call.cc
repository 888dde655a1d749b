#include "slurm/slurm_call.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/fd.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Fd read;
  Fd write;
};

bool make_pipe(Pipe& made) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  made.read = Fd(ends[0]);
  made.write = Fd(ends[1]);
  return true;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) {
    all.push_back(const_cast<char*>(text.c_str()));
  }
  all.push_back(nullptr);
  return all;
}

/// A child and what it is told and says.
class Child {
 public:
  bool start(const SlurmCall& call) {
    Pipe in;
    Pipe out;
    Pipe err;
    if (!make_pipe(in) || !make_pipe(out) || !make_pipe(err)) {
      return false;
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    sigset_t usual;
    ::sigfillset(&usual);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const std::vector<char*> arguments = pointers(call.words);
    const std::vector<char*> environment = pointers(call.environment);
    const int failed = ::posix_spawn(&pid_, call.words[0].c_str(), &actions, &attributes,
                                     arguments.data(), environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
      return false;
    }
    in_ = std::move(in.write);
    out_ = std::move(out.read);
    err_ = std::move(err.read);
    ::fcntl(in_.get(), F_SETFL, O_NONBLOCK);
    return true;
  }

  /// False when the time is over, or the wait is.
  bool converse(const SlurmCall& call, int stop_fd, SlurmAnswer& answer) {
    const Clock::time_point deadline = Clock::now() + call.patience;
    std::size_t written = 0;
    if (call.input.empty()) {
      in_.reset();
    }
    while (out_ || err_) {
      std::array<pollfd, 4> fds = {
          pollfd{out_ ? out_.get() : -1, POLLIN, 0}, pollfd{err_ ? err_.get() : -1, POLLIN, 0},
          pollfd{in_ ? in_.get() : -1, POLLOUT, 0}, pollfd{stop_fd, POLLIN, 0}};
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) {
        return false;
      }
      if (::poll(fds.data(), fds.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) {
        return false;
      }
      if ((fds[3].revents & POLLIN) != 0) {
        return false;
      }
      take(fds[0].revents, out_, answer.output);
      take(fds[1].revents, err_, answer.errors);
      if (fds[2].revents != 0) {
        const ssize_t put =
            ::write(in_.get(), call.input.data() + written, call.input.size() - written);
        written += put > 0 ? static_cast<std::size_t>(put) : 0;
        if ((put < 0 && errno != EAGAIN) || written == call.input.size()) {
          in_.reset();
        }
      }
    }
    return true;
  }

  int wait_for_end(bool kill) {
    if (kill) {
      ::kill(-pid_, SIGKILL);
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static void take(short events, Fd& fd, std::string& text) {
    if (events == 0) {
      return;
    }
    std::array<char, 65536> block{};
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got > 0) {
      text.append(block.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      fd.reset();
    }
  }

  pid_t pid_ = 0;
  Fd in_;
  Fd out_;
  Fd err_;
};

}  // namespace

SlurmAnswer run_slurm_call(const SlurmCall& call, int stop_fd) {
  SlurmAnswer answer;
  Child child;
  if (!child.start(call)) {
    answer.errors = call.words[0] + " cannot be started";
    return answer;
  }
  const bool finished = child.converse(call, stop_fd, answer);
  answer.code = child.wait_for_end(!finished);
  answer.kind = finished ? SlurmAnswer::Kind::Exited : SlurmAnswer::Kind::TimedOut;
  return answer;
}

std::vector<std::string> slurm_environment(std::vector<std::string> base, const std::string& conf) {
  std::erase_if(base, [&](const std::string& entry) {
    const bool own = entry.starts_with("SLURM_") || entry.starts_with("SBATCH_") ||
                     entry.starts_with("SQUEUE_") || entry.starts_with("SINFO_") ||
                     entry.starts_with("SCANCEL_") || entry.starts_with("SACCT_");
    return own && (!conf.empty() || !entry.starts_with("SLURM_CONF="));
  });
  if (!conf.empty()) {
    base.push_back("SLURM_CONF=" + conf);
  }
  return base;
}

std::string find_program(const std::string& folder, const std::string& name) {
  if (!folder.empty()) {
    const std::string path = folder + '/' + name;
    return ::access(path.c_str(), X_OK) == 0 ? path : "";
  }
  const char* list = std::getenv("PATH");
  std::string_view rest = list == nullptr ? "/usr/local/bin:/usr/bin:/bin" : list;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string path = std::string(rest.substr(0, end)) + '/' + name;
    if (path[0] == '/' && ::access(path.c_str(), X_OK) == 0) {
      return path;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

}  // namespace berth
