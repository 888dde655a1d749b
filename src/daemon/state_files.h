// StateFiles: what others may do to the files of a daemon that runs. The daemon hears of a name
// that went from its folders at once and makes good what can be made good; it never looks by
// itself.
//
// Owned by the loop's thread. Where the kernel has no watches left, nothing is heard, and what is
// gone shows with the next commit, client or start.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/paths.h"

namespace berth {

class StateFiles {
 public:
  /// `everyone`: other users pass through the log folder to their own.
  StateFiles(const Paths& paths, bool everyone);

  /// Readable when take() has something.
  int event_fd() const { return events_.get(); }
  struct Gone {
    bool database = false;  // or a file that belongs to it, or the whole folder
    bool socket = false;
    bool log = false;  // the daemon's own
  };
  Gone take();
  /// A folder that was made again is another one: watches what is at the paths now.
  void watch();

  const std::string& folder() const { return paths_.state; }
  std::string logs() const { return paths_.state + "/logs"; }
  /// The log folder is there afterwards, if that can be; false: it had been deleted.
  bool make_logs() const;
  /// Whether the disk has a place for one more attempt of this user: for its record, and for its
  /// log where that is in the log folder.
  bool has_room(uid_t user, bool with_log) const;

 private:
  Paths paths_;
  bool everyone_;
  Fd events_;
};

}  // namespace berth
