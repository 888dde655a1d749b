// StoreFiles: the files of a database, seen from outside: whether the open files are still the
// files at its path, and what a path without a database means. A deleted file still takes writes,
// but nothing will ever read them.
//
//   berth.db           the database
//   berth.db-wal       SQLite's log of it
//   berth.db-redo      see redo_log.h
//   berth.db-new       a first database, until it is complete
//   berth.db-rescue    the same for a database that is written anew from an open one
//   berth.db.N.found   a file that someone else had put in its place
#pragma once

#include <sys/stat.h>

#include <array>
#include <optional>
#include <string>

#include "base/result.h"

namespace berth {

class StoreFiles {
 public:
  /// The files of the open database at `path`: the files that are there now belong to it.
  explicit StoreFiles(std::string path);

  struct Problem {
    std::string text;
    bool damaged = false;  // the open file lacks something, too
  };
  /// What has happened to the files; nothing while all is as it was. Takes a few microseconds. The
  /// database itself may shrink as far as `committed`, its smallest size at a commit since.
  std::optional<Problem> problem(std::int64_t committed);
  /// The inode of the database.
  ino_t inode() const { return files_[0].inode; }

 private:
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;     // 0: there was none
    off_t size = 0;      // as last seen
    bool grows = false;  // only the store makes it smaller
  };
  std::array<File, 3> files_;
};

/// An error when there should be a database at `path` although there is none; it says why, and what
/// to do. A database that was moved away after its daemon had ended well leaves no such trace.
Result<void> check_absence(const std::string& path);

/// Durably renames the complete database `made` to `path`. SQLite's log of the database before it
/// is in the way there and is removed.
Result<void> give_name(const std::string& made, const std::string& path);
/// Moves a database that someone else has put there, and its log, to another name, and returns that
/// name.
Result<std::string> set_aside(const std::string& path);

/// Makes an empty file for this user alone, in place of anything that an earlier try may have left.
Result<void> make_fresh_file(const std::string& path);

}  // namespace berth
