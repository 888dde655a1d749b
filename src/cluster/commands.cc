#include "cluster/commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "base/fd.h"
#include "base/text.h"
#include "base/units.h"

namespace berth {
namespace {

struct CommandPipe {
  Fd read;
  Fd write;
};

Result<CommandPipe> make_command_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail_errno("cannot make a pipe", errno);
  }
  return CommandPipe{Fd(ends[0]), Fd(ends[1])};
}

/// Programs of administrators are in folders that an ordinary PATH may lack; their messages are
/// read here, so they must be in English.
std::vector<std::string> command_environment() {
  std::vector<std::string> all = {"LC_ALL=C"};
  std::string path = "/usr/bin:/bin";
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (text.starts_with("PATH=")) {
      path = text.substr(5);
    } else if (!text.starts_with("LC_ALL=") && !text.starts_with("LANG")) {
      all.emplace_back(text);
    }
  }
  all.push_back("PATH=" + path + ":/usr/sbin:/sbin");
  return all;
}

std::string find_program(const std::string& name, const std::vector<std::string>& environment) {
  if (name.find('/') != name.npos) {
    return ::access(name.c_str(), X_OK) == 0 ? name : "";
  }
  std::string_view folders = std::string_view(environment.back()).substr(5);
  while (!folders.empty()) {
    const std::string path = fmt::format("{}/{}", take_until(folders, ':'), name);
    if (::access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
}

std::vector<char*> as_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// One program while it runs: its pipes, and a descriptor that tells of its end.
struct RunningCommand {
  pid_t pid = -1;
  Fd ended;
  Fd input;
  Fd out;
  Fd err;
};

Result<RunningCommand> start_command(const std::vector<std::string>& words) {
  const std::vector<std::string> environment = command_environment();
  const std::string program = find_program(words[0], environment);
  if (program.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("{} is not installed", words[0]));
  }
  Result<CommandPipe> input = make_command_pipe();
  Result<CommandPipe> out = make_command_pipe();
  Result<CommandPipe> err = make_command_pipe();
  if (!input || !out || !err) {
    return fail(ErrorCode::Io, "cannot make a pipe: too many files are open");
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input->read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out->write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err->write.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  RunningCommand running;
  const int problem = ::posix_spawn(&running.pid, program.c_str(), &actions, &attributes,
                                    as_pointers(words).data(), as_pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (problem != 0) {
    return fail_errno(fmt::format("cannot start {}", program), problem);
  }
  running.ended = Fd(static_cast<int>(::syscall(SYS_pidfd_open, running.pid, 0)));
  running.input = std::move(input->write);
  running.out = std::move(out->read);
  running.err = std::move(err->read);
  for (const int fd : {running.input.get(), running.out.get(), running.err.get()}) {
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  return running;
}

/// Takes what is there; closes the descriptor at its end.
void take_output(Fd& from, std::string& text) {
  std::array<char, 65536> block;
  while (from) {
    const ssize_t n = ::read(from.get(), block.data(), block.size());
    if (n > 0) {
      text.append(block.data(), static_cast<std::size_t>(n));
    } else {
      if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        from.reset();
      }
      return;
    }
  }
}

void give_input(Fd& to, std::string_view& input) {
  while (to) {
    const ssize_t n = input.empty() ? 0 : ::write(to.get(), input.data(), input.size());
    if (n > 0) {
      input.remove_prefix(static_cast<std::size_t>(n));
    } else {
      if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        to.reset();
      }
      return;
    }
  }
}

}  // namespace

Result<CommandOutput> ProcessCommands::run(const std::vector<std::string>& words,
                                           std::string_view input, Duration patience) {
  ::signal(SIGPIPE, SIG_IGN);
  Result<RunningCommand> running = start_command(words);
  if (!running) {
    return Failure(running.error());
  }
  CommandOutput output;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  bool late = false;
  for (bool ended = false; !ended;) {
    give_input(running->input, input);
    std::array<pollfd, 4> waits = {
        pollfd{running->ended.get(), POLLIN, 0}, pollfd{running->out.get(), POLLIN, 0},
        pollfd{running->err.get(), POLLIN, 0}, pollfd{running->input.get(), POLLOUT, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 ||
        ::poll(waits.data(), waits.size(), static_cast<int>(left.count()) + 1) == 0) {
      late = true;
      ::kill(running->pid, SIGKILL);
      break;
    }
    ended = waits[0].revents != 0;
    take_output(running->out, output.out);
    take_output(running->err, output.err);
  }
  int status = 0;
  while (::waitpid(running->pid, &status, 0) < 0 && errno == EINTR) {
  }
  take_output(running->out, output.out);
  take_output(running->err, output.err);
  if (late) {
    return fail(ErrorCode::Timeout,
                fmt::format("{} did not answer within {}", words[0], format_duration(patience)));
  }
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

Result<std::string> run_or_fail(Commands& commands, const std::vector<std::string>& words,
                                Duration patience) {
  Result<CommandOutput> output = commands.run(words, {}, patience);
  if (!output) {
    return Failure(output.error());
  }
  if (!output->ok()) {
    const std::string said = last_line(output->err.empty() ? output->out : output->err);
    return fail(ErrorCode::Unavailable,
                fmt::format("{} failed: {}", words[0],
                            said.empty() ? fmt::format("exit code {}", output->code) : said));
  }
  return std::move(output->out);
}

std::string last_line(std::string_view text) {
  text = trim(text);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace berth
