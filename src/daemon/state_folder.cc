#include "daemon/state_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>

#include "daemon/start.h"
#include "exec/attempt_folder.h"
#include "exec/process_identity.h"
#include "exec/shim_runner.h"

namespace berth {
namespace {

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

Result<void> StateFolder::open(bool everyone) {
  everyone_ = everyone;
  Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  paths_ = *paths;
  for (const std::string& folder : {paths_.state, paths_.runtime, path("jobs"), path("logs")}) {
    if (Result<void> made = make_folder(folder); !made) {
      return made;
    }
  }
  if (everyone) {
    // Others pass through, and see no names.
    for (const std::string& folder : {paths_.state, paths_.runtime, path("logs")}) {
      if (::chmod(folder.c_str(), 0711) != 0) {
        return fail_errno(fmt::format("cannot open {} to everyone", folder), errno);
      }
    }
  }
  Result<Fd> lock = take_daemon_lock(paths_.state);
  if (!lock) {
    return Failure(lock.error());
  }
  lock_ = std::move(*lock);
  log_.open(path("daemon.log"));
  return {};
}

/// An empty queue where there was one before is a loss that nobody must have to notice by chance.
Result<void> StateFolder::open_store() {
  files_ = std::make_unique<StateFiles>(paths_, everyone_);
  const std::string database = path("berth.db");
  if (!exists(database)) {
    const std::string jobs = path("jobs");
    if (const std::size_t running = running_attempts(jobs, boot_id_path()); running > 0) {
      return fail(ErrorCode::Refused,
                  fmt::format("{0} is missing, and {1} of its jobs still run ({2}): put it or a "
                              "backup in its place, or begin with an empty queue when they have "
                              "ended (mv {2} ELSEWHERE)",
                              database, running, jobs));
    }
    if (exists(database + "-redo")) {
      log_.write("there is no berth.db in {} any more: a new queue begins, with job 1",
                 paths_.state);
    }
  }
  Result<std::unique_ptr<Store>> store = Store::open(database);
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
Result<void> StateFolder::keep_lock() {
  struct stat own {};
  struct stat there {};
  if (::fstat(lock_.get(), &own) == 0 && ::stat(path("daemon.lock").c_str(), &there) == 0 &&
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

bool StateFolder::make_good(const StateFiles::Gone& gone,
                            const std::function<Result<void>()>& listen) {
  if (gone.log && exists(paths_.state) && !exists(path("daemon.log"))) {
    log_.open(path("daemon.log"));
  }
  if (gone.database) {
    store_->suspect_files();
  }
  // A state folder that was moved away may come back, and must find its place free.
  if (gone.socket && paths_.runtime != paths_.state && !exists(paths_.runtime)) {
    (void)make_folder(paths_.runtime).has_value();
    files_->watch();
  }
  // In a folder of another daemon the socket is that one's.
  if (gone.socket && exists(paths_.runtime) && !exists(paths_.socket()) && keep_lock()) {
    const Result<void> listening = listen();
    log_.write("{} was gone: {}", paths_.socket(),
               listening ? "it was made anew" : listening.error().message);
  }
  return gone.database;
}

std::string StateFolder::boot_id_path() {
  const char* path = std::getenv("BERTH_BOOT_ID");
  return path != nullptr && *path != '\0' ? path : ShimRunner::Options().boot_id_path;
}

}  // namespace berth
