#include "daemon/whatif.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/replies.h"

namespace berth {
namespace {

constexpr Duration kWhatifPatience = std::chrono::seconds(60);
constexpr std::size_t kMostOutput = std::size_t{64} << 20;
constexpr int kNiceness = 10;

/// With its output in a pipe, and no other descriptor, signal mask or process group of this one. An
/// error number, or 0.
int spawn_self(const std::vector<std::string>& words, int output, int errors, pid_t& pid) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const int problem =
      ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return problem;
}

/// What it said is wrong, without its name.
std::string last_words(int file) {
  char text[2000];
  const ssize_t got = ::pread(file, text, sizeof text, 0);
  std::string words(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  for (const std::string_view name : {"berth whatif: ", "berth sim: "}) {
    if (words.starts_with(name)) {
      words.erase(0, name.size());
    }
  }
  words.erase(words.find_last_not_of('\n') + 1);
  return words.empty() ? "the simulation ended without a result" : words;
}

}  // namespace

Whatif::~Whatif() {
  if (busy()) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Whatif::start(const std::vector<std::string>& words, std::unique_ptr<Responder> reply,
                   Time now) {
  int ends[2] = {-1, -1};
  errors_ = Fd(::memfd_create("berth-whatif", MFD_CLOEXEC));
  const int problem = !errors_ || ::pipe2(ends, O_CLOEXEC) != 0
                          ? errno
                          : spawn_self(words, ends[1], errors_.get(), pid_);
  output_ = Fd(ends[0]);
  const Fd theirs(ends[1]);
  reply_ = std::move(reply);
  text_.clear();
  if (problem != 0) {
    pid_ = 0;
    return answer(failed({ErrorCode::Io, fmt::format("the simulation cannot be started: {}",
                                                     std::strerror(problem))}));
  }
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid_), kNiceness);
  until_ = now + kWhatifPatience;
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  loop_.watch(output_.get(), [this] { read_output(); });
}

void Whatif::read_output() {
  char buffer[65536];
  const ssize_t got = ::read(output_.get(), buffer, sizeof buffer);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    return finish();
  }
  text_.append(buffer, static_cast<std::size_t>(got));
  if (text_.size() > kMostOutput) {
    answer(failed({ErrorCode::Io, "the result is too long: choose fewer policies"}));
    ::kill(pid_, SIGKILL);
    text_.clear();
  }
}

void Whatif::check(Time now) {
  if (!busy() || reply_ == nullptr) {
    return;
  }
  if (now >= until_) {
    answer(failed({ErrorCode::Timeout, fmt::format("the simulation took more than {} s: choose "
                                                   "fewer policies",
                                                   to_seconds(kWhatifPatience))}));
  } else if (reply_->gone()) {
    reply_.reset();
  }
  if (reply_ == nullptr) {
    until_ = kNever;
    ::kill(pid_, SIGKILL);
  }
}

/// It has closed its output, which it does when it ends.
void Whatif::finish() {
  loop_.unwatch(output_.get());
  output_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  if (reply_ == nullptr) {
    return;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return answer(json(std::exchange(text_, {})));
  }
  const bool wrong = WIFEXITED(status) && WEXITSTATUS(status) == 2;
  answer(failed({wrong ? ErrorCode::Usage : ErrorCode::Refused, last_words(errors_.get())}));
}

void Whatif::answer(HttpResponse response) {
  if (const std::unique_ptr<Responder> reply = std::move(reply_)) {
    reply->respond(std::move(response));
  }
}

}  // namespace berth
