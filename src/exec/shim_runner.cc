#include "exec/shim_runner.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <unordered_map>

#include "base/failpoint.h"
#include "exec/attempt_folder.h"
#include "exec/cgroup.h"
#include "exec/launcher_link.h"
#include "exec/live_attempt.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

class FolderShimRunner final : public ShimRunner {
 public:
  FolderShimRunner(AttemptFolder folder, std::unique_ptr<CgroupFolder> cgroups)
      : folder_(std::move(folder)),
        cgroups_(std::move(cgroups)),
        link_(folder_.boot_id()),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  ~FolderShimRunner() override { folder_.remove_spares(); }

  Result<void> open(std::chrono::milliseconds patience) {
    if (!epoll_ || !news_) {
      return fail_errno("cannot open what running jobs takes", errno);
    }
    watch(news_.get(), kNews, EPOLLIN);
    if (Result<void> opened = open_link(); !opened) {
      return opened;
    }
    if (!link_.wait_until_ready(patience)) {
      return fail(ErrorCode::Unavailable, "another daemon runs jobs from the same folder");
    }
    return {};
  }

  std::vector<AttemptStart> adopt() override;
  bool may_have_run(JobId job, std::uint16_t attempt, bool started) const override {
    return folder_.is_new() || (started && !folder_.has({job, attempt}));
  }
  Result<void> start(const ShimLaunch& launch) override;
  void stop(JobId job, StopSignal signal) override {
    send(job, signal == StopSignal::Kill ? SIGKILL : SIGTERM);
  }
  void pause(JobId job, bool stopped) override { send(job, stopped ? SIGSTOP : SIGCONT); }
  void send(JobId job, int signal) override;
  int event_fd() const override { return epoll_.get(); }
  std::vector<AttemptStart> take_starts() override;
  std::vector<AttemptEnd> take_ends() override;
  void forget(JobId job, std::uint16_t attempt) override;

 private:
  using Attempts = std::map<std::uint64_t, LiveAttempt>;
  // What an epoll entry is about; all others are serial numbers of attempts.
  static constexpr std::uint64_t kNews = 0;
  static constexpr std::uint64_t kMessages = 1;
  static constexpr std::uint64_t kRequests = 2;

  Result<void> open_link();
  void replace_launcher();
  void send_request(const std::string& request);
  void await_room();
  void pump();
  void handle(ReceivedMessage received);
  void watch(int fd, std::uint64_t key, std::uint32_t events);
  void watch_process(Attempts::iterator attempt, Fd process);
  void unwatch_process(LiveAttempt& attempt);
  void process_ended(std::uint64_t serial);
  /// Goes by what the folder says. False when it knows nothing of the attempt.
  bool settle(Attempts::iterator attempt);
  void end(Attempts::iterator attempt, AttemptEnd::Kind kind, const EndRecord& record);
  void tell_start(LiveAttempt& attempt, pid_t pid);
  void update_news();

  AttemptFolder folder_;
  std::unique_ptr<CgroupFolder> cgroups_;
  LauncherLink link_;
  Fd epoll_;
  Fd news_;
  bool news_set_ = false;
  bool awaits_room_ = false;
  int silent_launchers_ = 0;  // in a row, that answered nothing before they died
  std::uint64_t next_serial_ = 16;
  Attempts attempts_;
  std::unordered_map<std::uint64_t, std::uint64_t> serials_;  // by job
  std::vector<AttemptStart> starts_;
  std::vector<AttemptEnd> ends_;
  /// Those of which nothing could be learned, as when this process was out of descriptors.
  std::vector<std::uint64_t> unsettled_;
};

void FolderShimRunner::watch(int fd, std::uint64_t key, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

Result<void> FolderShimRunner::open_link() {
  if (folder_.is_deleted()) {
    if (Result<void> made = folder_.make_again(); !made) {
      return made;
    }
  }
  if (Result<void> opened = link_.open(folder_.fd()); !opened) {
    return opened;
  }
  watch(link_.messages_fd(), kMessages, EPOLLIN);
  awaits_room_ = false;
  return {};
}

void FolderShimRunner::send_request(const std::string& request) {
  link_.send(request);
  await_room();
}

/// Writability is an event only while something waits to be written.
void FolderShimRunner::await_room() {
  if (link_.is_behind() == awaits_room_) {
    return;
  }
  awaits_room_ = link_.is_behind();
  if (awaits_room_) {
    watch(link_.requests_fd(), kRequests, EPOLLOUT);
  } else {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link_.requests_fd(), nullptr);
  }
}

Result<void> FolderShimRunner::start(const ShimLaunch& launch) {
  if (serials_.contains(launch.job.value)) {
    return fail(ErrorCode::Refused, fmt::format("job {} is running already", launch.job.value));
  }
  if (!link_.is_open()) {
    silent_launchers_ = 0;
    if (Result<void> opened = open_link(); !opened) {
      return opened;
    }
  }
  if (folder_.is_deleted()) {
    link_.retire();
  }
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
  serials_[launch.job.value] = serial;
  const LiveAttempt& kept = attempts_.emplace(serial, std::move(attempt)).first->second;
  (void)BERTH_FAILPOINT("runner.before_request");
  send_request(kept.request);
  (void)BERTH_FAILPOINT("runner.after_request");
  return {};
}

std::vector<AttemptStart> FolderShimRunner::adopt() {
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
  // They are the result itself.
  starts_.clear();
  update_news();
  return adopted;
}

void FolderShimRunner::send(JobId job, int signal) {
  auto serial = serials_.find(job.value);
  if (serial != serials_.end() && !attempts_.at(serial->second).process) {
    // The launcher may have answered by now.
    pump();
    update_news();
    serial = serials_.find(job.value);
  }
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

std::vector<AttemptStart> FolderShimRunner::take_starts() {
  pump();
  std::vector<AttemptStart> taken = std::exchange(starts_, {});
  update_news();
  return taken;
}

std::vector<AttemptEnd> FolderShimRunner::take_ends() {
  pump();
  const auto untold = std::stable_partition(ends_.begin(), ends_.end(), [&](const AttemptEnd& end) {
    return std::none_of(starts_.begin(), starts_.end(), [&](const AttemptStart& start) {
      return start.job == end.job && start.attempt == end.attempt;
    });
  });
  std::vector<AttemptEnd> taken(ends_.begin(), untold);
  ends_.erase(ends_.begin(), untold);
  update_news();
  return taken;
}

/// The event descriptor stays readable while something is left to be taken.
void FolderShimRunner::update_news() {
  const bool wanted = !starts_.empty() || !ends_.empty();
  if (wanted == news_set_) {
    return;
  }
  news_set_ = wanted;
  std::uint64_t count = 1;
  const ssize_t done = wanted ? ::write(news_.get(), &count, sizeof count)
                              : ::read(news_.get(), &count, sizeof count);
  (void)done;
}

void FolderShimRunner::pump() {
  for (const std::uint64_t serial : std::exchange(unsettled_, {})) {
    const auto attempt = attempts_.find(serial);
    if (attempt != attempts_.end() && !attempt->second.process && !settle(attempt)) {
      end(attempt, AttemptEnd::Kind::Lost, {});
    }
  }
  constexpr int kBatch = 64;
  epoll_event events[kBatch];
  int count = kBatch;
  while (count == kBatch) {
    count = ::epoll_wait(epoll_.get(), events, kBatch, 0);
    if (count <= 0) {
      return;
    }
    // Messages first: what a shim said is older than its end.
    bool launcher_lost = false;
    if (link_.is_open()) {
      ReceivedMessage received;
      Receive got = Receive::Nothing;
      while ((got = link_.receive(received)) == Receive::Message) {
        handle(std::move(received));
      }
      launcher_lost = got == Receive::Closed;
    }
    for (int i = 0; i < count; ++i) {
      const std::uint64_t key = events[i].data.u64;
      if (key == kRequests) {
        link_.flush();
        await_room();
      } else if (key > kRequests) {
        process_ended(key);
      }
    }
    if (launcher_lost) {
      replace_launcher();
    }
  }
}

void FolderShimRunner::handle(ReceivedMessage received) {
  const ShimMessage& message = received.message;
  const auto attempt = attempts_.find(message.serial);
  if (message.kind != ShimMessage::Kind::Ready) {
    silent_launchers_ = 0;
  }
  if (attempt == attempts_.end()) {
    return;
  }
  switch (message.kind) {
    case ShimMessage::Kind::Ready:
      break;
    case ShimMessage::Kind::Forked:
      if (!received.descriptor) {
        unsettled_.push_back(attempt->first);
      } else if (!attempt->second.process) {
        watch_process(attempt, std::move(received.descriptor));
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
        // Asked for again, of a launcher that has a folder.
        unwatch_process(attempt->second);
        link_.retire();
      } else if (message.error == ECANCELED) {
        end(attempt, AttemptEnd::Kind::Exited, {0, SIGTERM, 0, StartStep::None, 0});
      } else {
        end(attempt, AttemptEnd::Kind::NotStarted, {127, 0, message.error, message.step, 0});
      }
      break;
  }
}

void FolderShimRunner::tell_start(LiveAttempt& attempt, pid_t pid) {
  if (attempt.job == 0 && pid != 0) {
    attempt.job = pid;
    attempt.request = std::string();
    starts_.push_back(attempt.start());
  }
}

void FolderShimRunner::watch_process(Attempts::iterator attempt, Fd process) {
  LiveAttempt& what = attempt->second;
  watch(process.get(), attempt->first, EPOLLIN);
  what.process = std::move(process);
  for (const int signal : std::exchange(what.signals, {})) {
    signal_attempt(what, folder_, signal);
  }
}

void FolderShimRunner::unwatch_process(LiveAttempt& attempt) {
  if (attempt.process) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, attempt.process.get(), nullptr);
    attempt.process.reset();
  }
}

void FolderShimRunner::process_ended(std::uint64_t serial) {
  const auto attempt = attempts_.find(serial);
  if (attempt == attempts_.end() || !attempt->second.process) {
    return;
  }
  LiveAttempt& what = attempt->second;
  if (what.reap) {
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(what.process.get()), &info, WEXITED | WNOHANG);
  }
  unwatch_process(what);
  (void)BERTH_FAILPOINT("runner.shim_ended");
  if (const std::optional<EndRecord> record = folder_.read_end(what.name)) {
    end(attempt, record->start_error != 0 ? AttemptEnd::Kind::NotStarted : AttemptEnd::Kind::Exited,
        *record);
  } else if (!settle(attempt)) {
    end(attempt, AttemptEnd::Kind::Lost, {});
  }
}

bool FolderShimRunner::settle(Attempts::iterator attempt) {
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
      watch_process(attempt, std::move(verdict.process));
      break;
    case Verdict::Kind::JobLives:
      what.shim_gone = true;
      watch_process(attempt, std::move(verdict.process));
      break;
    case Verdict::Kind::Ended:
      end(attempt,
          verdict.end.start_error != 0 ? AttemptEnd::Kind::NotStarted : AttemptEnd::Kind::Exited,
          verdict.end);
      break;
    case Verdict::Kind::Gone:
      // Its shim did not live to end what the job left.
      folder_.signal_holders(what.name, SIGKILL);
      end(attempt, AttemptEnd::Kind::Lost, {});
      break;
  }
  return true;
}

void FolderShimRunner::end(Attempts::iterator attempt, AttemptEnd::Kind kind,
                           const EndRecord& record) {
  LiveAttempt& what = attempt->second;
  ends_.push_back({what.name.job, what.name.attempt, kind, record.code, record.signal,
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

void FolderShimRunner::replace_launcher() {
  // The last of its newborn shims has let go of the socket: the folder tells which there are.
  link_.close();
  awaits_room_ = false;
  constexpr int kMostSilent = 5;
  const bool hopeless = ++silent_launchers_ > kMostSilent;
  const bool opened = !hopeless && open_link().has_value();
  for (auto next = attempts_.begin(); next != attempts_.end();) {
    const auto attempt = next++;
    if (attempt->second.process || settle(attempt)) {
      continue;
    }
    if (opened) {
      send_request(attempt->second.request);
    } else {
      end(attempt, AttemptEnd::Kind::NotStarted, {127, 0, ECHILD, StartStep::Fork, 0});
    }
  }
}

void FolderShimRunner::forget(JobId job, std::uint16_t attempt) {
  const auto serial = serials_.find(job.value);
  if (serial == serials_.end() || attempts_.at(serial->second).name.attempt != attempt) {
    folder_.give_up({job, attempt});
  }
}

}  // namespace

Result<std::unique_ptr<ShimRunner>> ShimRunner::make(std::string folder, Options options) {
  std::string boot_id = read_boot_id(options.boot_id_path);
  if (boot_id.empty()) {
    return fail(ErrorCode::Io,
                fmt::format("cannot read the boot id from {}", options.boot_id_path));
  }
  Result<AttemptFolder> opened = AttemptFolder::open(std::move(folder), std::move(boot_id));
  if (!opened) {
    return Failure(opened.error());
  }
  auto runner = std::make_unique<FolderShimRunner>(
      std::move(*opened), options.use_cgroups ? CgroupFolder::make() : nullptr);
  if (Result<void> ready = runner->open(options.patience); !ready) {
    return Failure(ready.error());
  }
  return std::unique_ptr<ShimRunner>(std::move(runner));
}

}  // namespace berth
