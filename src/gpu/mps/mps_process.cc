#include "gpu/mps/mps_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/process_facts.h"
#include "base/small_files.h"

namespace berth {
namespace {

constexpr std::string_view kProgram = "nvidia-cuda-mps-control";
constexpr std::string_view kExit = "exit=";
constexpr std::size_t kMostOutput = std::size_t{1} << 20;

/// Prints the process id of the control daemon in the pipe directory $0, if there is one: the
/// number in its file may be another's by now, so that process must be of that name and in that
/// place. Whoever can change the file is the user whose process this is.
constexpr std::string_view kWhoIsThere = R"({
  pid=$(head -c 20 "$0/nvidia-cuda-mps-control.pid")
  case "$pid" in
    "" | *[!0-9]*) ;;
    *) if tr '\0' '\n' <"/proc/$pid/environ" | grep -qxF "CUDA_MPS_PIPE_DIRECTORY=$0" &&
          tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qF nvidia-cuda-mps-control
       then echo "$pid"; fi ;;
  esac
} 2>/dev/null)";

/// A shell script with its arguments, as one user's process.
struct Script {
  std::string text;
  std::vector<std::string> arguments;  // $0, $1, …
  std::string program;                 // what it runs, besides what every system has; or empty
};

/// The library of Debian 12 declares these for C alone.
Fd open_pid(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }
bool signal_pid(const Fd& process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

/// What this process's own user finds in its environment anyway.
std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    // A berth that is itself a job of another must not have its control daemons taken for that job.
    const bool dropped = text.starts_with("CUDA_VISIBLE_DEVICES=") ||
                         text.starts_with("CUDA_DEVICE_ORDER=") || text.starts_with("CUDA_MPS_") ||
                         text.starts_with("BERTH_JOB_ID=") || text.starts_with("BERTH_RUN=");
    if (!dropped) {
      environment.emplace_back(text);
    }
  }
  return environment;
}

/// Another user's process learns nothing from this one's. Programs that come with the control
/// daemon are beside it.
std::vector<std::string> plain_environment(const UserIdentity& user, const std::string& program) {
  return {fmt::format("PATH={}{}/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
                      program.substr(0, program.rfind('/') + 1), program.empty() ? "" : ":"),
          "HOME=" + user.home, "USER=" + user.name, "LOGNAME=" + user.name, "LANG=C.UTF-8"};
}

/// With what a control daemon and its commands must find there.
std::vector<std::string> environment_of(const MpsPlace& place, const std::string& program) {
  std::vector<std::string> environment =
      place.identity ? plain_environment(*place.identity, program) : own_environment();
  for (std::string& own : std::vector<std::string>{
           "CUDA_VISIBLE_DEVICES=" + place.visible, "CUDA_DEVICE_ORDER=PCI_BUS_ID",
           "CUDA_MPS_PIPE_DIRECTORY=" + place.pipe(), "CUDA_MPS_LOG_DIRECTORY=" + place.log()}) {
    environment.push_back(std::move(own));
  }
  if (!place.mark.empty()) {
    environment.push_back(place.mark);
    environment.emplace_back("BERTH_JOB_ID=");  // of no job
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) {
    list.push_back(text.data());
  }
  list.push_back(nullptr);
  return list;
}

/// In the child of a process that may have threads: system calls only.
[[noreturn]] void become(const UserIdentity* identity, int null, int output, char* const* arguments,
                         char* const* environment) {
  ::setsid();
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(null, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  constexpr int kCannot = 126;
  // The library's own would tell the other threads, of which the child has none.
  if (identity != nullptr &&
      (::syscall(SYS_setgroups, identity->groups.size(), identity->groups.data()) != 0 ||
       ::syscall(SYS_setresgid, identity->group, identity->group, identity->group) != 0 ||
       ::syscall(SYS_setresuid, identity->user, identity->user, identity->user) != 0)) {
    ::_exit(kCannot);
  }
  ::execve("/bin/sh", arguments, environment);
  ::_exit(kCannot);
}

Result<MpsProcess> spawn_script(const MpsPlace& place, const Script& script) {
  if (!place.identity && place.user != ::geteuid()) {
    return fail(ErrorCode::Refused, fmt::format("user {} is unknown here", place.user));
  }
  MpsProcess process;
  process.output = Fd(::memfd_create("berth-mps", MFD_CLOEXEC));
  if (!process.output) {
    return fail_errno("cannot keep what MPS answers", errno);
  }
  std::vector<std::string> words = {"sh", "-c", script.text};
  words.insert(words.end(), script.arguments.begin(), script.arguments.end());
  std::vector<std::string> variables = environment_of(place, script.program);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  // No signal of ours may run a handler in the child.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int problem = errno;
  if (pid == 0) {
    become(place.identity ? &*place.identity : nullptr, null.get(), process.output.get(),
           arguments.data(), environment.data());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return fail_errno("cannot start a process for MPS", problem);
  }
  process.pid = pid;
  process.fd = open_pid(pid);
  if (!process.fd) {
    return fail_errno("cannot watch a process of MPS", errno);
  }
  return process;
}

Result<MpsProcess> spawn_command(const MpsPlace& place, Script script) {
  // How it ended is told by the text: others may reap this process's children.
  script.text += fmt::format("; echo \"{}$?\"", kExit);
  return spawn_script(place, script);
}

/// From its beginning, or the end of what is too long. It is our memory, but the user's process can
/// write to it at any time.
std::string read_output(const MpsProcess& process, std::size_t most) {
  struct stat info {};
  if (!process.output || ::fstat(process.output.get(), &info) != 0) {
    return "";
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  std::string text(std::min(size, most), '\0');
  const ssize_t got = ::pread(process.output.get(), text.data(), text.size(),
                              static_cast<off_t>(size - text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

/// What is read while its descriptor is open is about the process behind it, and no later one. The
/// memory of another user's process, where its command and environment are, is not looked at: the
/// user can make that wait for ever.
bool is_control(const MpsProcess& process, const MpsPlace& place) {
  const std::string proc = fmt::format("/proc/{}", process.pid);
  struct stat info {};
  const auto stat = read_proc_stat(process.pid);
  if (!process.fd || ::stat(proc.c_str(), &info) != 0 || info.st_uid != place.user || !stat ||
      !stat->alive()) {
    return false;
  }
  if (place.identity) {
    return true;  // by the word of a process of that user, and that user's it is
  }
  const std::string here = fmt::format("CUDA_MPS_PIPE_DIRECTORY={}", place.pipe()) + '\0';
  return ('\0' + read_small_file(proc + "/environ").value_or("")).find('\0' + here) !=
         std::string::npos;
}

}  // namespace

Result<std::string> find_mps_program() {
  const char* variable = std::getenv("PATH");
  std::string_view path = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string candidate = fmt::format("{}/{}", path.substr(0, end), kProgram);
    if (end > 0 && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return fail(
      ErrorCode::Refused,
      fmt::format("MPS is asked for but {} is not on PATH; install what comes with NVIDIA's "
                  "driver, or omit --mps",
                  kProgram));
}

Result<MpsProcess> start_control(const std::string& program, const MpsPlace& place) {
  return spawn_script(place, {R"(exec "$0" -f)", {program}, program});
}

std::string last_words(const MpsProcess& control) {
  constexpr std::size_t kLongest = 1000;
  std::string text = read_output(control, kLongest);
  text.erase(text.find_last_not_of(" \n") + 1);
  text.erase(0, text.rfind('\n') + 1);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

void signal_control(const MpsProcess& control, int signal) {
  // It leads a group of its own, and it has not been reaped, or it would not be asked of.
  if (signal_pid(control.fd, signal) && signal == SIGKILL) {
    (void)::kill(-control.pid, signal);
  }
}

Result<MpsProcess> tell_control(const std::string& program, const MpsPlace& place,
                                const std::string& words) {
  return spawn_command(place, {R"(echo "$1" | "$0")", {program, words}, program});
}

Result<MpsProcess> make_place(const MpsPlace& place) {
  if (Result<void> made = make_mps_root(place.user); !made) {
    return Failure(made.error());
  }
  return spawn_command(place, {fmt::format(R"(umask 077; mkdir -p "$0" "$1" && {})", kWhoIsThere),
                               {place.pipe(), place.log()},
                               ""});
}

Result<MpsProcess> look_in_place(const MpsPlace& place) {
  return spawn_command(place, {std::string(kWhoIsThere), {place.pipe()}, ""});
}

Result<MpsProcess> remove_place(const MpsPlace& place) {
  return spawn_command(place, {R"(rm -rf "$0")", {place.folder}, ""});
}

Result<std::string> output_of(const MpsProcess& command) {
  std::string text = read_output(command, kMostOutput);
  const std::size_t end = text.rfind(kExit);
  const bool succeeded = end != text.npos && text.substr(end) == fmt::format("{}0\n", kExit);
  text.resize(std::min(end, text.size()));
  if (!succeeded) {
    text.erase(text.find_last_not_of(" \n") + 1);
    return fail(ErrorCode::Io, text);
  }
  return text;
}

std::optional<MpsProcess> found_control(const MpsProcess& command, const MpsPlace& place) {
  const std::string text = output_of(command).value_or("");
  MpsProcess process;
  if (std::from_chars(text.data(), text.data() + text.size(), process.pid).ec != std::errc() ||
      process.pid <= 1) {
    return std::nullopt;
  }
  process.fd = open_pid(process.pid);
  if (!is_control(process, place)) {
    return std::nullopt;
  }
  return process;
}

std::optional<std::vector<pid_t>> server_list(const MpsProcess& command) {
  const Result<std::string> text = output_of(command);
  if (!text) {
    return std::nullopt;
  }
  std::vector<pid_t> servers;
  for (std::string_view left = *text; !left.empty();) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    pid_t server = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), server).ec == std::errc()) {
      servers.push_back(server);
    } else if (!line.empty()) {
      return std::nullopt;  // a complaint
    }
  }
  return servers;
}

}  // namespace berth
