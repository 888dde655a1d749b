// The files of the daemon: opening the queue, what others do to them, and a disk without room.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "exec/attempt_folder.h"

namespace berth {
namespace {

constexpr Duration kRoomRetry = std::chrono::seconds(1);

bool exists(const std::string& path) {
  struct stat file {};
  return ::lstat(path.c_str(), &file) == 0;
}

/// How many attempts of an earlier daemon still run.
std::size_t running_attempts(const std::string& folder, const std::string& boot_id_path) {
  const Result<AttemptFolder> attempts = AttemptFolder::open(folder, read_boot_id(boot_id_path));
  if (!attempts) {
    return 0;
  }
  std::size_t running = 0;
  for (const AttemptName& name : attempts->list()) {
    const Verdict::Kind kind = attempts->judge(name).kind;
    running += kind == Verdict::Kind::ShimLives || kind == Verdict::Kind::JobLives ? 1 : 0;
  }
  return running;
}

}  // namespace

/// An empty queue where there was one before is a loss that nobody must have to notice by chance.
Result<void> Daemon::open_store() {
  files_ = std::make_unique<StateFiles>(paths_, options_.everyone);
  const std::string path = paths_.state + "/berth.db";
  if (!exists(path)) {
    const std::string jobs = paths_.state + "/jobs";
    if (const std::size_t running = running_attempts(jobs, boot_id_path()); running > 0) {
      return fail(ErrorCode::Refused,
                  fmt::format("{0} is missing, and {1} of its jobs still run ({2}): put it or a "
                              "backup in its place, or begin with an empty queue when they have "
                              "ended (mv {2} ELSEWHERE)",
                              path, running, jobs));
    }
    if (exists(path + "-redo")) {
      log_.write("there is no berth.db in {} any more: a new queue begins, with job 1",
                 paths_.state);
    }
  }
  Result<std::unique_ptr<Store>> store = Store::open(path);
  if (!store) {
    return Failure(store.error());
  }
  store_ = std::move(*store);
  store_->set_rescue({[this] { return keep_lock(); },
                      [this](const std::string& what) {
                        log_.write(what);
                        files_->watch();
                      }});
  return {};
}

/// A folder that was deleted and made again may have another daemon by now, whose files are not
/// this one's to replace.
Result<void> Daemon::keep_lock() {
  struct stat own {};
  struct stat there {};
  const std::string path = paths_.state + "/daemon.lock";
  if (::fstat(lock_.get(), &own) == 0 && ::stat(path.c_str(), &there) == 0 &&
      own.st_dev == there.st_dev && own.st_ino == there.st_ino) {
    return {};
  }
  Result<Fd> lock = take_daemon_lock(paths_.state);
  if (!lock) {
    return Failure(lock.error());
  }
  lock_ = std::move(*lock);
  return {};
}

/// Whether what a request asks for can be kept. Asked before anything is done about it: between
/// requests all that was told to the store makes sense as it is, and may be committed.
bool Daemon::can_promise() {
  if (!store_->out_of_reach() && store_->misses_files()) {
    store_->suspect_files();
    commit();
  }
  return !store_->out_of_reach();
}

void Daemon::make_good(const StateFiles::Gone& gone) {
  if (gone.log && exists(paths_.state) && !exists(paths_.state + "/daemon.log")) {
    log_.open(paths_.state + "/daemon.log");
  }
  if (gone.database) {
    store_->suspect_files();
    commit_due_ = now();
  }
  // A state folder that was moved away may come back, and must find its place free.
  if (gone.socket && paths_.runtime != paths_.state && !exists(paths_.runtime)) {
    (void)make_folder(paths_.runtime).has_value();
    files_->watch();
  }
  // In a folder of another daemon the socket is that one's.
  if (gone.socket && exists(paths_.runtime) && !exists(paths_.socket()) && keep_lock()) {
    const Result<void> listening = server_->listen_unix(paths_.socket(), options_.everyone);
    log_.write("{} was gone: {}", paths_.socket(),
               listening ? "it was made anew" : listening.error().message);
  }
}

/// False when the launch is kept until there is room for its log and its record: an attempt that
/// fails for want of it would fail through no fault of its own.
bool Daemon::await_room(const ShimLaunch& launch) {
  const bool own_log = launch.stdout_path.starts_with(files_->logs() + "/");
  if (own_log) {
    if (!files_->make_logs()) {
      log_.write("{} was gone: it was made anew", files_->logs());
    }
    (void)log_folder_.path_for(launch.user, launch.job, launch.attempt);  // makes its folder
  }
  if (files_->has_room(launch.user, own_log)) {
    return true;
  }
  log_.write("no room on the disk of {}: job {} waits for it", paths_.state, launch.job.value);
  awaiting_room_.insert(launch.job);
  room_due_ = std::min(room_due_, now() + kRoomRetry);
  return false;
}

void Daemon::settle_room(Time at) {
  if (at < room_due_) {
    return;
  }
  room_due_ = kNever;
  for (const JobId job : std::exchange(awaiting_room_, {})) {
    start_shim(job);
  }
}

}  // namespace berth
