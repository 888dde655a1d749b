#include "gpu/mps/mps_daemon.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <utility>

namespace berth {
namespace {

bool is_gone(const MpsProcess& process) {
  pollfd ended{process.fd.get(), POLLIN, 0};
  if (::poll(&ended, 1, 0) <= 0) {
    return false;
  }
  // A child of ours, unless it was adopted or somebody else has reaped it.
  siginfo_t info{};
  (void)::waitid(P_PIDFD, static_cast<id_t>(process.fd.get()), &info, WEXITED | WNOHANG);
  return true;
}

}  // namespace

MpsDaemon::MpsDaemon(MpsPlace place, const std::string& program, const MpsWaits& waits)
    : place_(std::move(place)), program_(program), waits_(waits) {}

Result<void> MpsDaemon::start() {
  waits_.watch(place_);
  Result<MpsProcess> started = start_control(program_, place_);
  if (!started) {
    return Failure(started.error());
  }
  waits_.watch(started->fd.get());
  process_ = std::move(*started);
  return {};
}

void MpsDaemon::adopt(MpsProcess process) {
  waits_.watch(process.fd.get());
  process_ = std::move(process);
  waits_.watch(place_);
}

bool MpsDaemon::has_ended() const { return process_ && is_gone(*process_); }

std::string MpsDaemon::bury() { return last_words(*std::exchange(process_, std::nullopt)); }

Result<MpsProcess> MpsDaemon::command_for(Asked what) const {
  switch (what) {
    case Asked::ToMakePlace:
      return make_place(place_);
    case Asked::WhoIsThere:
      return look_in_place(place_);
    case Asked::WhetherReady:
    case Asked::WhetherUsed:
      return tell_control(program_, place_, "get_server_list");
    case Asked::ToQuit:
      return tell_control(program_, place_, "quit");
    case Asked::ToRemovePlace:
      return remove_place(place_);
  }
  return fail(ErrorCode::Usage, "there is no such command");
}

Result<void> MpsDaemon::ask(Asked what) {
  Result<MpsProcess> command = command_for(what);
  if (!command) {
    return Failure(command.error());
  }
  waits_.watch(command->fd.get());
  command_ = std::move(*command);
  asked_ = what;
  deadline_ = Clock::now() + kCommandPatience;
  return {};
}

std::optional<MpsProcess> MpsDaemon::take_answer() {
  return command_ && is_gone(*command_) ? std::exchange(command_, std::nullopt) : std::nullopt;
}

MpsDaemon::Clock::time_point MpsDaemon::deadline() const {
  return command_ ? deadline_ : Clock::time_point::max();
}

void MpsDaemon::end_late_command(Clock::time_point now) {
  if (command_ && now >= deadline_) {
    signal_control(*command_, SIGKILL);
    deadline_ = Clock::time_point::max();
  }
}

}  // namespace berth
