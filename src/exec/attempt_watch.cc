#include "exec/attempt_watch.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "base/failpoint.h"

namespace berth {
namespace {

AttemptEnd::Kind kind_of(const EndRecord& record) {
  return record.start_error != 0 ? AttemptEnd::Kind::NotStarted : AttemptEnd::Kind::Exited;
}

}  // namespace

AttemptWatch::AttemptWatch(AttemptFolder& folder, CgroupFolder* cgroups, const KeyedEpoll& epoll,
                           AttemptNews& news, IdleShims& idle)
    : folder_(folder), cgroups_(cgroups), epoll_(epoll), news_(news), idle_(idle) {}

Result<const LiveAttempt*> AttemptWatch::add(const ShimLaunch& launch) {
  LiveAttempt attempt;
  attempt.name = {launch.job, launch.attempt};
  if (cgroups_ != nullptr) {
    attempt.cgroup = cgroups_->create();
  }
  const std::uint64_t serial = next_serial_++;
  Result<std::string> request = encode_request(
      launch, serial, attempt.cgroup != nullptr ? attempt.cgroup->path() : std::string(),
      folder_.take_spare());
  if (!request) {
    return Failure(request.error());
  }
  attempt.request = std::move(*request);
  attempt.serial = serial;
  attempt.user = launch.user;
  serials_[launch.job.value] = serial;
  return &attempts_.emplace(serial, std::move(attempt)).first->second;
}

bool AttemptWatch::pass_on(const LiveAttempt& attempt, int lock) {
  if (lock < 0 || attempt.request.size() > kLongestOnWire) {
    return false;
  }
  while (std::optional<ShimLine> shim = idle_.take(attempt.user)) {
    if (!send_next(shim->wire.get(), attempt.request, lock)) {
      continue;  // it is gone
    }
    const auto found = attempts_.find(attempt.serial);
    epoll_.change(shim->wire.get(), wire_key(attempt.serial), EPOLLIN);
    found->second.wire = std::move(shim->wire);
    found->second.process = std::move(shim->process);
    found->second.passed_on = true;
    return true;
  }
  return false;
}

std::vector<AttemptStart> AttemptWatch::adopt() {
  std::vector<AttemptStart> adopted;
  for (const AttemptName& name : folder_.list()) {
    const std::uint64_t serial = next_serial_++;
    const auto attempt = attempts_.emplace(serial, LiveAttempt()).first;
    attempt->second.name = name;
    serials_[name.job.value] = serial;
    // One that has ended is gone from the map.
    if (settle(attempt) && attempts_.contains(serial)) {
      adopted.push_back(attempt->second.start());
    }
  }
  (void)news_.take_starts();  // they are the result itself
  return adopted;
}

const LiveAttempt* AttemptWatch::find(JobId job) const {
  const auto serial = serials_.find(job.value);
  return serial == serials_.end() ? nullptr : &attempts_.at(serial->second);
}

void AttemptWatch::signal(JobId job, int signal) {
  const auto serial = serials_.find(job.value);
  if (serial == serials_.end()) {
    return;
  }
  LiveAttempt& attempt = attempts_.at(serial->second);
  if (attempt.process) {
    signal_attempt(attempt, folder_, signal);
  } else {
    attempt.signals.push_back(signal);
  }
}

void AttemptWatch::settle_unsettled() {
  for (const std::uint64_t serial : std::exchange(unsettled_, {})) {
    const auto attempt = attempts_.find(serial);
    if (attempt != attempts_.end() && !attempt->second.process && !settle(attempt)) {
      end(attempt, AttemptEnd::Kind::Lost, {});
    }
  }
}

bool AttemptWatch::take(ReceivedMessage received) {
  const ShimMessage& message = received.message;
  const auto attempt = attempts_.find(message.serial);
  if (attempt == attempts_.end()) {
    return true;
  }
  switch (message.kind) {
    case ShimMessage::Kind::Ready:
      break;
    case ShimMessage::Kind::Forked:
      if (!received.descriptors[0]) {
        unsettled_.push_back(attempt->first);
      } else if (!attempt->second.process) {
        watch_process(attempt, std::move(received.descriptors[0]),
                      std::move(received.descriptors[1]));
      }
      break;
    case ShimMessage::Kind::Started:
      tell_start(attempt->second, message.pid);
      break;
    case ShimMessage::Kind::Exists:
      // Its file was made on behalf of a launcher that died, or of an earlier daemon.
      unwatch_process(attempt->second);
      if (!settle(attempt)) {
        end(attempt, AttemptEnd::Kind::Lost, {});
      }
      break;
    case ShimMessage::Kind::Failed:
      if (message.error == ENOENT && message.step == StartStep::Record && folder_.is_deleted()) {
        unwatch_process(attempt->second);
        return false;
      }
      if (message.error == ECANCELED) {
        end(attempt, AttemptEnd::Kind::Exited, {0, SIGTERM, 0, StartStep::None, 0});
      } else {
        end(attempt, AttemptEnd::Kind::NotStarted, {127, 0, message.error, message.step, 0});
      }
      break;
    case ShimMessage::Kind::Ended:
      // Its record is there, nothing is left of the job, and the shim waits.
      (void)BERTH_FAILPOINT("runner.shim_ended");
      idle_.add({attempt->second.user, std::move(attempt->second.process),
                 std::move(attempt->second.wire)});
      end(attempt, kind_of(message.end), message.end);
      break;
    case ShimMessage::Kind::Stopped:
    case ShimMessage::Kind::Resumed:
      news_.add_pause(attempt->second.name.job);
      break;
  }
  return true;
}

void AttemptWatch::tell_start(LiveAttempt& attempt, pid_t pid) {
  if (attempt.job == 0 && pid != 0) {
    attempt.job = pid;
    attempt.request = std::string();
    news_.add(attempt.start());
  }
}

void AttemptWatch::watch_process(Attempts::iterator attempt, Fd process, Fd wire) {
  LiveAttempt& what = attempt->second;
  if (wire) {
    epoll_.add(wire.get(), wire_key(attempt->first), EPOLLIN);
  } else {
    epoll_.add(process.get(), process_key(attempt->first), EPOLLIN);
  }
  what.process = std::move(process);
  what.wire = std::move(wire);
  for (const int signal : std::exchange(what.signals, {})) {
    signal_attempt(what, folder_, signal);
  }
}

void AttemptWatch::unwatch_process(LiveAttempt& attempt) {
  if (attempt.process && !attempt.wire) {
    epoll_.remove(attempt.process.get());
  }
  attempt.process.reset();
  attempt.wire.reset();
}

bool AttemptWatch::take_event(std::uint64_t key) {
  const std::uint64_t serial = key / 2;
  const auto attempt = attempts_.find(serial);
  if (attempt == attempts_.end()) {
    idle_.forget_dead();
    return true;
  }
  if (key == wire_key(serial)) {
    return take_words(serial);
  }
  return !attempt->second.process || process_ended(attempt);
}

/// What the shim of this attempt says, until the attempt is over.
bool AttemptWatch::take_words(std::uint64_t serial) {
  for (auto attempt = attempts_.find(serial); attempt != attempts_.end() && attempt->second.wire;
       attempt = attempts_.find(serial)) {
    ReceivedMessage received;
    const Receive got = receive_message(attempt->second.wire.get(), received);
    if (got == Receive::Closed) {
      close_wire(attempt);
    } else if (got == Receive::Nothing) {
      break;
    } else if (!take(std::move(received))) {
      return false;
    }
  }
  return true;
}

/// From here on its process tells when it has ended, and the folder how.
void AttemptWatch::close_wire(Attempts::iterator attempt) {
  attempt->second.wire.reset();
  epoll_.add(attempt->second.process.get(), process_key(attempt->first), EPOLLIN);
}

void AttemptWatch::hang_up() {
  idle_.hang_up_all();
  for (auto attempt = attempts_.begin(); attempt != attempts_.end(); ++attempt) {
    if (attempt->second.wire) {
      close_wire(attempt);
    }
  }
}

bool AttemptWatch::process_ended(Attempts::iterator attempt) {
  LiveAttempt& what = attempt->second;
  if (what.reap) {
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(what.process.get()), &info, WEXITED | WNOHANG);
  }
  unwatch_process(what);
  (void)BERTH_FAILPOINT("runner.shim_ended");
  if (const std::optional<EndRecord> record = folder_.read_end(what.name)) {
    end(attempt, kind_of(*record), *record);
  } else if (!settle(attempt)) {
    if (what.passed_on && what.job == 0) {
      return false;  // the shim died idle, and never saw the request
    }
    end(attempt, AttemptEnd::Kind::Lost, {});
  }
  return true;
}

bool AttemptWatch::settle(Attempts::iterator attempt) {
  LiveAttempt& what = attempt->second;
  Verdict verdict = folder_.judge(what.name);
  what.reap = true;
  if (verdict.record) {
    if (what.cgroup == nullptr && !verdict.record->cgroup.empty()) {
      what.cgroup = Cgroup::open(verdict.record->cgroup);
    }
    tell_start(what, verdict.record->job.pid);
  }
  switch (verdict.kind) {
    case Verdict::Kind::Absent:
      return false;
    case Verdict::Kind::Unknown:
      unsettled_.push_back(attempt->first);
      break;
    case Verdict::Kind::ShimLives:
      what.serial = 0;  // another daemon may have asked it
      watch_process(attempt, std::move(verdict.process));
      break;
    case Verdict::Kind::JobLives:
      what.shim_gone = true;
      watch_process(attempt, std::move(verdict.process));
      break;
    case Verdict::Kind::Ended:
      end(attempt, kind_of(verdict.end), verdict.end);
      break;
    case Verdict::Kind::Gone:
      // Its shim did not live to end what the job left.
      folder_.signal_holders(what.name, SIGKILL);
      end(attempt, AttemptEnd::Kind::Lost, {});
      break;
  }
  return true;
}

void AttemptWatch::end(Attempts::iterator attempt, AttemptEnd::Kind kind, const EndRecord& record) {
  LiveAttempt& what = attempt->second;
  news_.add(AttemptEnd{what.name.job, what.name.attempt, kind, record.code, record.signal,
                       record.start_error, record.start_step, record.ended_at});
  if (what.cgroup != nullptr && cgroups_ != nullptr) {
    cgroups_->retire(std::move(what.cgroup));
  } else if (what.cgroup != nullptr && what.cgroup->populated()) {
    what.cgroup->kill();
  }
  if (const auto serial = serials_.find(what.name.job.value);
      serial != serials_.end() && serial->second == attempt->first) {
    serials_.erase(serial);
  }
  attempts_.erase(attempt);
}

void AttemptWatch::ask_again(const std::function<bool(const std::string& request)>& ask) {
  for (auto next = attempts_.begin(); next != attempts_.end();) {
    const auto attempt = next++;
    if (attempt->second.process || settle(attempt)) {
      continue;
    }
    if (!ask(attempt->second.request)) {
      end(attempt, AttemptEnd::Kind::NotStarted, {127, 0, ECHILD, StartStep::Fork, 0});
    }
  }
}

}  // namespace berth
