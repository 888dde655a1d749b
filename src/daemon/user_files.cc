#include "daemon/user_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "daemon/user_files_wire.h"

namespace berth {
namespace {

constexpr auto kFilePatience = std::chrono::seconds(2);
constexpr auto kIdle = std::chrono::seconds(10);
/// Helpers of one user that hang.
constexpr int kMostHanging = 3;
/// Questions about one user's files that wait for their turn.
constexpr std::size_t kMostWaiting = 1000;

Failure no_answer(uid_t user) {
  return fail(ErrorCode::Unavailable,
              fmt::format("the files of user {} do not answer: try again later", user));
}

/// With the two descriptors that a helper has, nothing of this process's environment, and no other
/// descriptor or signal mask of it. An error number, or 0.
int spawn_helper(uid_t user, int socket, int changes, pid_t& pid) {
  std::array<std::string, 3> words = {"berth", "user-files", std::to_string(user)};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  std::string language = "LANG=C.UTF-8";
  std::array<char*, 2> environment = {language.data(), nullptr};
  // Far from the numbers that they will have there.
  const Fd far_socket(::fcntl(socket, F_DUPFD_CLOEXEC, 10));
  const Fd far_changes(::fcntl(changes, F_DUPFD_CLOEXEC, 10));
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, far_socket.get(), kHelperSocket);
  ::posix_spawn_file_actions_adddup2(&actions, far_changes.get(), kHelperChanges);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kHelperChanges + 1);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const int problem = ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments.data(),
                                    environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return problem;
}

bool reaped(const Fd& process) {
  pollfd state{process.get(), POLLIN, 0};
  if (::poll(&state, 1, 0) != 1) {
    return false;
  }
  siginfo_t info{};
  (void)::waitid(P_PIDFD, static_cast<id_t>(process.get()), &info, WEXITED | WNOHANG);
  return true;
}

}  // namespace

UserFiles::UserFiles(Log log)
    : log_(std::move(log)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      changes_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  BERTH_CHECK(epoll_ && timer_ && changes_ && watch(timer_.get()));
}

bool UserFiles::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void UserFiles::ask(uid_t user, FileQuestion question, Done done) {
  if (::geteuid() != 0 || user == 0) {
    return done(look_at(question, changes_.get()));
  }
  if (question.path.size() >= PATH_MAX) {
    FileAnswer answer;
    answer.error = ENAMETOOLONG;
    return done(answer);
  }
  User& files = users_[user];
  if (files.waiting.size() >= kMostWaiting) {
    return done(no_answer(user));
  }
  files.waiting.push_back({std::move(question), std::move(done)});
  advance(user);
  set_timer();
}

bool UserFiles::start_helper(uid_t user, User& files) {
  const auto hanging = std::count_if(ending_.begin(), ending_.end(), [&](const Ending& each) {
    return each.hangs && each.user == user;
  });
  std::array<int, 2> ends = {-1, -1};
  pid_t pid = 0;
  if (hanging >= kMostHanging ||
      ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return false;
  }
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  if (spawn_helper(user, theirs.get(), changes_.get(), pid) != 0) {
    return false;
  }
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process || !watch(ours.get())) {
    return false;  // it sees that nobody asks
  }
  files.helper = Helper{std::move(ours), std::move(process), false, Clock::now()};
  return true;
}

/// Its end is seen later; that its socket is closed tells one that does not hang.
void UserFiles::end_helper(uid_t user, User& files, bool hangs) {
  Helper helper = std::move(*std::exchange(files.helper, std::nullopt));
  if (hangs) {
    log_(
        fmt::format("a file of user {} has not answered within {} s", user, kFilePatience.count()));
    (void)::syscall(SYS_pidfd_send_signal, helper.process.get(), SIGKILL, nullptr, 0);
  }
  if (watch(helper.process.get())) {
    ending_.push_back({user, hangs, std::move(helper.process)});
  }
}

void UserFiles::advance(uid_t user) {
  User& files = users_[user];
  while (!files.waiting.empty()) {
    if (files.helper && files.helper->asked) {
      return;
    }
    if (!files.helper && !start_helper(user, files)) {
      finish_first(user, no_answer(user));
      continue;
    }
    const std::string message = encode_question(files.waiting.front().what);
    if (::send(files.helper->socket.get(), message.data(), message.size(),
               MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(message.size())) {
      files.helper->asked = true;
      files.helper->since = Clock::now();
      return;
    }
    end_helper(user, files, true);
    finish_first(user, no_answer(user));
  }
}

/// The asker may ask again at once.
void UserFiles::finish_first(uid_t user, const Result<FileAnswer>& answer) {
  User& files = users_[user];
  if (files.helper) {
    files.helper->asked = false;
    files.helper->since = Clock::now();
  }
  const Question question = std::move(files.waiting.front());
  files.waiting.pop_front();
  question.done(answer);
}

void UserFiles::read_answer(uid_t user) {
  User& files = users_[user];
  if (!files.helper) {
    return;
  }
  const Helper& helper = *files.helper;
  std::string message(kMostInMessage, '\0');
  const ssize_t got = ::recv(helper.socket.get(), message.data(), message.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    const auto patience = helper.asked ? kFilePatience : kIdle;
    if (Clock::now() - helper.since < patience) {
      return;
    }
  }
  message.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const bool asked = helper.asked;
  const Result<FileAnswer> answer =
      got > 0 && asked ? decode_answer(message) : Result<FileAnswer>(no_answer(user));
  if (!answer) {
    end_helper(user, files, asked);  // else it is idle, or somebody has killed it
  }
  if (asked) {
    finish_first(user, answer ? answer : Result<FileAnswer>(no_answer(user)));
  }
}

void UserFiles::take_answers() {
  std::uint64_t expired = 0;
  (void)!::read(timer_.get(), &expired, sizeof expired);
  std::erase_if(ending_, [](const Ending& each) { return reaped(each.process); });
  std::vector<uid_t> users;
  for (const auto& [user, files] : users_) {
    users.push_back(user);
  }
  for (const uid_t user : users) {
    read_answer(user);
    advance(user);
  }
  std::erase_if(users_, [](const auto& entry) {
    return !entry.second.helper && entry.second.waiting.empty();
  });
  set_timer();
}

void UserFiles::set_timer() {
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [user, files] : users_) {
    if (files.helper) {
      next = std::min(next, files.helper->since + (files.helper->asked ? kFilePatience : kIdle));
    }
  }
  itimerspec when{};
  if (next != Clock::time_point::max()) {
    const auto left = std::max<Clock::duration>(next - Clock::now(), std::chrono::nanoseconds(1));
    when.it_value.tv_sec = left / std::chrono::seconds(1);
    when.it_value.tv_nsec = (left % std::chrono::seconds(1)) / std::chrono::nanoseconds(1);
  }
  (void)::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

}  // namespace berth
