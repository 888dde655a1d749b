// StateFolder: the daemon's place on disk: the lock that makes it the only daemon there, its log,
// its database, and what it does when other programs delete them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/paths.h"
#include "daemon/daemon_log.h"
#include "daemon/state_files.h"
#include "store/store.h"

namespace berth {

class StateFolder {
 public:
  /// Makes the folders, takes the lock and opens the log. `everyone`: other users of the machine
  /// pass through to the socket and to the logs of their own jobs.
  Result<void> open(bool everyone);
  /// Call it after the launcher of jobs has been forked.
  Result<void> open_store();

  const Paths& paths() const { return paths_; }
  std::string path(const std::string& name) const { return paths_.state + '/' + name; }
  DaemonLog& log() { return log_; }
  Store& store() { return *store_; }
  StateFiles& files() { return *files_; }

  /// Mends what it can. `listen` makes the socket anew. True when the database is affected: the
  /// next commit will write it anew, and should come soon.
  bool make_good(const StateFiles::Gone& gone, const std::function<Result<void>()>& listen);

  /// The file in which the kernel names the present boot. Tests set BERTH_BOOT_ID to simulate a
  /// reboot.
  static std::string boot_id_path();

 private:
  Result<void> keep_lock();

  Paths paths_;
  bool everyone_ = false;
  Fd lock_;
  DaemonLog log_;
  std::unique_ptr<StateFiles> files_;
  std::unique_ptr<Store> store_;
};

}  // namespace berth
