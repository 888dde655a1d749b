#include "exec/shim_runner.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>

#include <cerrno>

#include "base/failpoint.h"
#include "exec/attempt_folder.h"
#include "exec/attempt_news.h"
#include "exec/attempt_watch.h"
#include "exec/cgroup.h"
#include "exec/keyed_epoll.h"
#include "exec/launcher_link.h"
#include "exec/process_identity.h"

namespace berth {
namespace {

/// Asks the launcher for attempts, replaces one that dies, and hands on what it says to the watch
/// of the attempts.
class FolderShimRunner final : public ShimRunner {
 public:
  FolderShimRunner(AttemptFolder folder, std::unique_ptr<CgroupFolder> cgroups)
      : folder_(std::move(folder)),
        cgroups_(std::move(cgroups)),
        link_(folder_.boot_id()),
        attempts_(folder_, cgroups_.get(), epoll_, news_, idle_) {}

  ~FolderShimRunner() override { folder_.remove_spares(); }

  Result<void> open(std::chrono::milliseconds patience) {
    if (!epoll_.is_open() || !news_.is_open()) {
      return fail_errno("cannot open what running jobs takes", errno);
    }
    epoll_.add(news_.event_fd(), kNews, EPOLLIN);
    epoll_.add(idle_.event_fd(), kIdle, EPOLLIN);
    if (Result<void> opened = open_link(); !opened) {
      return opened;
    }
    if (!link_.wait_until_ready(patience)) {
      return fail(ErrorCode::Unavailable, "another daemon runs jobs from the same folder");
    }
    return {};
  }

  std::vector<AttemptStart> adopt() override { return attempts_.adopt(); }
  bool may_have_run(JobId job, std::uint16_t attempt, bool started) const override {
    return folder_.is_new() || (started && !folder_.has({job, attempt}));
  }
  Result<void> start(const ShimLaunch& launch) override;
  void stop(JobId job, StopSignal signal) override {
    send(job, signal == StopSignal::Kill ? SIGKILL : SIGTERM);
  }
  bool pause(JobId job, bool stopped) override {
    send(job, stopped ? SIGSTOP : SIGCONT);
    const LiveAttempt* attempt = attempts_.find(job);
    return attempt != nullptr && (attempt->wire || !attempt->process);
  }
  void send(JobId job, int signal) override;
  int event_fd() const override { return epoll_.fd(); }
  std::vector<AttemptStart> take_starts() override {
    pump();
    return news_.take_starts();
  }
  std::vector<AttemptEnd> take_ends() override {
    pump();
    return news_.take_ends();
  }
  std::vector<JobId> take_pauses() override {
    pump();
    return news_.take_pauses();
  }
  void forget(JobId job, std::uint16_t attempt) override;

 private:
  // What an epoll entry is about; all others are keys of attempts.
  static constexpr std::uint64_t kNews = 0;
  static constexpr std::uint64_t kMessages = 1;
  static constexpr std::uint64_t kRequests = 2;
  static constexpr std::uint64_t kIdle = 3;
  static_assert(kIdle < AttemptWatch::kFirstKey);

  Result<void> open_link();
  void replace_launcher();
  void send_request(const std::string& request);
  void await_room();
  void pump();
  /// True: the launcher has died.
  bool take_messages();
  void take_event(std::uint64_t key);

  AttemptFolder folder_;
  std::unique_ptr<CgroupFolder> cgroups_;
  LauncherLink link_;
  KeyedEpoll epoll_;
  AttemptNews news_;
  bool awaits_room_ = false;
  int silent_launchers_ = 0;  // in a row, that answered nothing before they died
  IdleShims idle_;
  AttemptWatch attempts_;
};

Result<void> FolderShimRunner::open_link() {
  if (folder_.is_deleted()) {
    if (Result<void> made = folder_.make_again(); !made) {
      return made;
    }
    attempts_.hang_up();  // these shims know the folder that is gone
  }
  if (Result<void> opened = link_.open(folder_.fd()); !opened) {
    return opened;
  }
  epoll_.add(link_.messages_fd(), kMessages, EPOLLIN);
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
    epoll_.add(link_.requests_fd(), kRequests, EPOLLOUT);
  } else {
    epoll_.remove(link_.requests_fd());
  }
}

Result<void> FolderShimRunner::start(const ShimLaunch& launch) {
  if (attempts_.find(launch.job) != nullptr) {
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
  const Result<const LiveAttempt*> attempt = attempts_.add(launch);
  if (!attempt) {
    return Failure(attempt.error());
  }
  (void)BERTH_FAILPOINT("runner.before_request");
  if (!attempts_.pass_on(**attempt, link_.lock_fd())) {
    send_request((*attempt)->request);
  }
  (void)BERTH_FAILPOINT("runner.after_request");
  return {};
}

void FolderShimRunner::send(JobId job, int signal) {
  if (const LiveAttempt* attempt = attempts_.find(job); attempt != nullptr && !attempt->process) {
    // The launcher may have answered by now.
    pump();
    news_.update();
  }
  attempts_.signal(job, signal);
}

void FolderShimRunner::pump() {
  attempts_.settle_unsettled();
  constexpr int kBatch = 64;
  epoll_event events[kBatch];
  int count = kBatch;
  while (count == kBatch) {
    count = ::epoll_wait(epoll_.fd(), events, kBatch, 0);
    if (count <= 0) {
      return;
    }
    // Messages first: what a shim said is older than its end.
    const bool launcher_lost = link_.is_open() && take_messages();
    for (int i = 0; i < count; ++i) {
      const std::uint64_t key = events[i].data.u64;
      if (key == kRequests) {
        link_.flush();
        await_room();
      } else if (key == kIdle) {
        idle_.expire();
      } else if (key >= AttemptWatch::kFirstKey) {
        take_event(key);
      }
    }
    if (launcher_lost) {
      replace_launcher();
    }
  }
}

void FolderShimRunner::take_event(std::uint64_t key) {
  if (!attempts_.take_event(key) && link_.is_open()) {
    link_.retire();
  }
}

bool FolderShimRunner::take_messages() {
  ReceivedMessage received;
  Receive got = Receive::Nothing;
  while ((got = link_.receive(received)) == Receive::Message) {
    if (received.message.kind != ShimMessage::Kind::Ready) {
      silent_launchers_ = 0;
    }
    if (!attempts_.take(std::move(received))) {
      link_.retire();
    }
  }
  return got == Receive::Closed;
}

void FolderShimRunner::replace_launcher() {
  // The last of its newborn shims has let go of the socket: the folder tells which there are.
  link_.close();
  awaits_room_ = false;
  constexpr int kMostSilent = 5;
  const bool hopeless = ++silent_launchers_ > kMostSilent;
  const bool opened = !hopeless && open_link().has_value();
  attempts_.ask_again([&](const std::string& request) {
    if (opened) {
      send_request(request);
    }
    return opened;
  });
}

void FolderShimRunner::forget(JobId job, std::uint16_t attempt) {
  const LiveAttempt* live = attempts_.find(job);
  if (live == nullptr || live->name.attempt != attempt) {
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
