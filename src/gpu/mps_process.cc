#include "gpu/mps_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/close_range.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "gpu/proc_stat.h"

namespace berth {
namespace {

constexpr std::string_view kProgram = "nvidia-cuda-mps-control";
constexpr std::string_view kRootStart = "berth-mps-";
/// The control daemon's own, in its pipe directory.
constexpr std::string_view kPidFile = "nvidia-cuda-mps-control.pid";
constexpr std::string_view kExit = "exit=";

/// A shell script with its arguments, as one user's process.
struct Script {
  std::string text;
  std::vector<std::string> arguments;  // $0, $1, …
  int output = -1;                     // -1: nowhere
};

/// The library of Debian 12 declares these for C alone.
Fd open_pid(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }
bool signal_pid(const Fd& process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

/// What a process needs to be another user's.
struct Identity {
  bool change = false;
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;
};

Result<Identity> identity_of(uid_t user) {
  Identity identity;
  if (user == ::geteuid()) {
    return identity;
  }
  const passwd* entry = ::getpwuid(user);
  if (entry == nullptr) {
    return fail(ErrorCode::NotFound, fmt::format("there is no user {} to start MPS for", user));
  }
  identity = {true, user, entry->pw_gid, {}};
  int count = 64;
  identity.groups.resize(static_cast<std::size_t>(count));
  while (::getgrouplist(entry->pw_name, entry->pw_gid, identity.groups.data(), &count) < 0) {
    identity.groups.resize(static_cast<std::size_t>(count));
  }
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

/// This process's, with what a control daemon and its commands must find there.
std::vector<std::string> environment_of(const MpsPlace& place) {
  const std::vector<std::string> own = {
      "CUDA_VISIBLE_DEVICES=" + place.visible, "CUDA_DEVICE_ORDER=PCI_BUS_ID",
      "CUDA_MPS_PIPE_DIRECTORY=" + place.pipe(), "CUDA_MPS_LOG_DIRECTORY=" + place.log()};
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
  environment.insert(environment.end(), own.begin(), own.end());
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
[[noreturn]] void become(const Identity& identity, int null, int output, char* const* arguments,
                         char* const* environment) {
  ::setsid();
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(null, 0);
  ::dup2(output >= 0 ? output : null, 1);
  ::dup2(output >= 0 ? output : null, 2);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  constexpr int kCannot = 126;
  // The library's own would tell the other threads, of which the child has none.
  if (identity.change &&
      (::syscall(SYS_setgroups, identity.groups.size(), identity.groups.data()) != 0 ||
       ::syscall(SYS_setresgid, identity.group, identity.group, identity.group) != 0 ||
       ::syscall(SYS_setresuid, identity.user, identity.user, identity.user) != 0)) {
    ::_exit(kCannot);
  }
  ::execve("/bin/sh", arguments, environment);
  ::_exit(kCannot);
}

Result<MpsProcess> spawn_script(const MpsPlace& place, const Script& script) {
  const Result<Identity> identity = identity_of(place.user);
  if (!identity) {
    return Failure(identity.error());
  }
  std::vector<std::string> words = {"sh", "-c", script.text};
  words.insert(words.end(), script.arguments.begin(), script.arguments.end());
  std::vector<std::string> variables = environment_of(place);
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
    become(*identity, null.get(), script.output, arguments.data(), environment.data());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return fail_errno("cannot start a process for MPS", problem);
  }
  MpsProcess process{pid, open_pid(pid)};
  if (!process.fd) {
    return fail_errno("cannot watch a process of MPS", errno);
  }
  return process;
}

Result<MpsCommand> spawn_command(const MpsPlace& place, Script script) {
  MpsCommand command;
  command.output = Fd(::memfd_create("berth-mps", MFD_CLOEXEC));
  if (!command.output) {
    return fail_errno("cannot keep what MPS answers", errno);
  }
  script.output = command.output.get();
  // How it ended is told by the text: others may reap this process's children.
  script.text += fmt::format("; echo \"{}$?\"", kExit);
  Result<MpsProcess> process = spawn_script(place, script);
  if (!process) {
    return Failure(process.error());
  }
  command.process = std::move(*process);
  return command;
}

/// Where it is told what goes wrong before the control daemon has a log of its own.
std::string start_log(const MpsPlace& place) { return place.log() + "/start"; }

/// Directly below /tmp, where nobody can put another in its place: it must be that user's alone.
Result<void> make_root(uid_t user) {
  const std::string path = mps_root(user);
  if (::mkdir(path.c_str(), 0700) == 0) {
    if (user != ::geteuid() && ::lchown(path.c_str(), user, static_cast<gid_t>(-1)) != 0) {
      return fail_errno(fmt::format("cannot make {}", path), errno);
    }
  } else if (errno != EEXIST) {
    return fail_errno(fmt::format("cannot make {}", path), errno);
  }
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != user ||
      (info.st_mode & 077) != 0) {
    return fail(ErrorCode::Io, fmt::format("{} is in the way of MPS: it must be a folder of user "
                                           "{} that nobody else may enter",
                                           path, user));
  }
  return {};
}

}  // namespace

std::string mps_root(uid_t user) { return fmt::format("/tmp/{}{}", kRootStart, user); }

std::vector<uid_t> mps_users() {
  std::vector<uid_t> users;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/tmp", error)) {
    const std::string name = entry.path().filename().string();
    uid_t user = 0;
    const char* end = name.data() + name.size();
    if (name.starts_with(kRootStart) && name.size() > kRootStart.size() &&
        std::from_chars(name.data() + kRootStart.size(), end, user).ptr == end) {
      users.push_back(user);
    }
  }
  return users;
}

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
                  "driver, or leave MPS out",
                  kProgram));
}

std::optional<MpsProcess> find_control(const MpsPlace& place) {
  const auto text = read_small_file(fmt::format("{}/{}", place.pipe(), kPidFile), 32);
  pid_t pid = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), pid).ec != std::errc() ||
      pid <= 1) {
    return std::nullopt;
  }
  MpsProcess process{pid, open_pid(pid)};
  // What is read while the descriptor is open is about the process behind it, and no later one. The
  // number may be another's by now: it must be this user's, of that name, and be in this place.
  const std::string proc = fmt::format("/proc/{}", pid);
  struct stat info {};
  const auto command = read_small_file(proc + "/cmdline");
  const auto environment = read_small_file(proc + "/environ");
  const auto stat = read_proc_stat("/proc", pid);
  const std::string here = "CUDA_MPS_PIPE_DIRECTORY=" + place.pipe() + '\0';
  if (!process.fd || ::stat(proc.c_str(), &info) != 0 || info.st_uid != place.user || !command ||
      command->find(kProgram) == command->npos || !environment ||
      ('\0' + *environment).find('\0' + here) == environment->npos || !stat || !stat->alive()) {
    return std::nullopt;
  }
  return process;
}

Result<MpsProcess> start_control(const std::string& program, const MpsPlace& place) {
  return spawn_script(place, {R"(exec "$0" -f >"$1" 2>&1)", {program, start_log(place)}, -1});
}

std::string last_words(const MpsPlace& place) {
  std::string text = read_small_file(start_log(place)).value_or("");
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

void signal_control(const MpsProcess& control, int signal) {
  // It leads a group of its own, and it has not been reaped, or it would not be asked of.
  if (signal_pid(control.fd, signal) && signal == SIGKILL) {
    (void)::kill(-control.pid, signal);
  }
}

Result<MpsCommand> tell_control(const std::string& program, const MpsPlace& place,
                                const std::string& words) {
  return spawn_command(place, {R"(echo "$1" | "$0")", {program, words}, -1});
}

Result<MpsCommand> make_place(const MpsPlace& place) {
  if (Result<void> made = make_root(place.user); !made) {
    return Failure(made.error());
  }
  return spawn_command(place,
                       {R"(umask 077; mkdir -p "$0" "$1")", {place.pipe(), place.log()}, -1});
}

Result<MpsCommand> remove_place(const MpsPlace& place) {
  return spawn_command(place, {R"(rm -rf "$0")", {place.folder}, -1});
}

Result<std::string> output_of(const MpsCommand& command) {
  std::string text =
      read_small_file(fmt::format("/proc/self/fd/{}", command.output.get())).value_or("");
  const std::size_t end = text.rfind(kExit);
  const bool succeeded = end != text.npos && text.substr(end) == fmt::format("{}0\n", kExit);
  text.resize(std::min(end, text.size()));
  if (!succeeded) {
    text.erase(text.find_last_not_of(" \n") + 1);
    return fail(ErrorCode::Io, text);
  }
  return text;
}

std::optional<std::vector<pid_t>> server_list(const MpsCommand& command) {
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
