#include "exec/launcher_link.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>

#include "exec/launcher.h"
#include "exec/process_identity.h"

namespace berth {

Result<void> LauncherLink::open(int folder) {
  int requests[2];
  int messages[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, requests) != 0) {
    return fail_errno("cannot make a socket for the launcher", errno);
  }
  requests_ = Fd(requests[0]);
  const Fd their_requests(requests[1]);
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, messages) != 0) {
    return fail_errno("cannot make a socket for the launcher", errno);
  }
  messages_ = Fd(messages[0]);
  const Fd their_messages(messages[1]);
  const Fd self = open_pid(::getpid());
  if (!self) {
    return fail_errno("cannot open a process descriptor", errno);
  }
  // Handlers must not run in the child, which blocks all signals next.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setrlimit(RLIMIT_NOFILE, &open_files_);
    run_launcher({their_requests.get(), their_messages.get(), folder, self.get(), boot_id_});
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    close();
    return fail_errno("cannot start the launcher", error);
  }
  process_ = open_pid(pid);
  return {};
}

void LauncherLink::retire() {
  ::shutdown(requests_.get(), SHUT_RDWR);
  lock_.reset();
  waiting_.clear();
  sent_ = 0;
}

void LauncherLink::close() {
  requests_.reset();
  messages_.reset();
  lock_.reset();
  waiting_.clear();
  sent_ = 0;
  if (process_) {
    // It ends by itself, unless it waits for a lock or is stopped; it has nothing to lose.
    signal_process(process_.get(), SIGKILL);
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED);
    process_.reset();
  }
}

bool LauncherLink::wait_until_ready(std::chrono::milliseconds patience) {
  pollfd poll{messages_.get(), POLLIN, 0};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    const int got = ::poll(&poll, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (got == 1) {
      ReceivedMessage received;
      return receive(received) == Receive::Message;
    }
    if (got == 0) {
      return false;
    }
  }
}

void LauncherLink::send(std::string request) {
  waiting_.push_back(std::move(request));
  if (waiting_.size() == 1) {
    flush();
  }
}

void LauncherLink::flush() {
  while (!waiting_.empty()) {
    const std::string& first = waiting_.front();
    const ssize_t sent = ::send(requests_.get(), first.data() + sent_, first.size() - sent_,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      // The launcher is gone; the messages' end says so too, and then all is sent again.
      waiting_.clear();
      sent_ = 0;
      return;
    }
    if (sent < 0) {
      return;
    }
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ == first.size()) {
      waiting_.pop_front();
      sent_ = 0;
    }
  }
}

Receive LauncherLink::receive(ReceivedMessage& received) {
  const Receive got = receive_message(messages_.get(), received);
  if (got == Receive::Message && received.message.kind == ShimMessage::Kind::Ready) {
    lock_ = std::move(received.descriptors[0]);
  }
  return got;
}

}  // namespace berth
