#include "cli/compat/schedule_command_line.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "spec/shell_words.h"

namespace berth {
namespace {

/// Whether the shell can read the command. It does not run it. When in doubt, it can.
bool is_shell_command(const std::string& command) {
  std::string words[] = {"sh", "-n", "-c", command};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, "/bin/sh", &quiet, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  if (error != 0) {
    return true;
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0;
}

}  // namespace

std::string schedule_command_line(std::string_view task) {
  std::string line = join_lines(task);
  if (is_shell_command(line)) {
    return line;
  }
  const Result<std::vector<std::string>> words = split_shell_words(line);
  return words && !words->empty() ? shell_words(std::span<const std::string>(*words)) : line;
}

}  // namespace berth
