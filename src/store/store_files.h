// StoreFiles: the files of a database, seen from outside: whether those that are open are still
// those at its path, and what a path without a database tells. A file that was deleted goes on to
// take what is written to it, and nobody will ever read it.
//
//   berth.db           the database
//   berth.db-wal       SQLite's log of it
//   berth.db-redo      see redo_log.h
//   berth.db-new       a first database, until it is complete
//   berth.db-rescue    the same for one that is written anew from an open one
//   berth.db.N.found   what somebody else had put in its place
#pragma once

#include <sys/stat.h>

#include <array>
#include <optional>
#include <string>

#include "base/result.h"

namespace berth {

class StoreFiles {
 public:
  /// Of the database at `path`, which is open: what is there now belongs to it.
  explicit StoreFiles(std::string path);

  struct Problem {
    std::string text;
    bool damaged = false;  // what is open lacks something, too
  };
  /// What has happened to them; nothing while all is as it was. Takes a few microseconds. The
  /// database itself may shrink as far as `committed`, its size as of its own last commit.
  std::optional<Problem> problem(std::int64_t committed);
  /// Of the database.
  ino_t inode() const { return files_[0].inode; }

 private:
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;     // 0: there was none
    off_t size = 0;      // as last seen
    bool grows = false;  // nobody but the store makes it smaller
  };
  std::array<File, 3> files_;
};

/// Why there should be a database at `path` although there is none, and what to do: an error. A
/// database that was moved away after its daemon had ended well has left no such trace.
Result<void> check_absence(const std::string& path);

/// Gives the complete database `made` the name that it is to have, durably. SQLite's log of the one
/// before is in the way there and goes.
Result<void> give_name(const std::string& made, const std::string& path);
/// Moves a database that somebody has put there, and its log, to another name: which.
Result<std::string> set_aside(const std::string& path);

/// Makes an empty file for this user alone, in place of what an earlier try may have left.
Result<void> make_fresh_file(const std::string& path);

}  // namespace berth
