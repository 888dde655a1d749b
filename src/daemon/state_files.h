// StateFiles: notices what other programs do to the files of a running daemon. The daemon learns at
// once when a name disappears from its folders, and restores what it can. It never polls.
//
// Owned by the loop's thread. If the kernel has no watches left, the daemon learns nothing, and a
// missing file shows with the next commit, client or start.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/paths.h"

namespace berth {

class StateFiles {
 public:
  /// `everyone`: other users pass through the log folder to their own folders.
  StateFiles(const Paths& paths, bool everyone);

  /// Readable when take() has something.
  int event_fd() const { return events_.get(); }
  struct Gone {
    bool database = false;  // or a file that belongs to it, or the whole folder
    bool socket = false;
    bool log = false;  // the daemon's own
  };
  Gone take();
  /// Watches the folders that are at the paths now. A folder that was made again is a different
  /// one.
  void watch();

  const std::string& folder() const { return paths_.state; }
  std::string logs() const { return paths_.state + "/logs"; }
  /// Makes the log folder if it is missing, as far as possible. False when it had been deleted.
  bool make_logs() const;
  /// Whether the disk has room for one more attempt of this user: for its record, and for its log
  /// if that is in the log folder.
  bool has_room(uid_t user, bool with_log) const;

 private:
  Paths paths_;
  bool everyone_;
  Fd events_;
};

}  // namespace berth
