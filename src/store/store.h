// Store: the daemon's durable state in one SQLite file: jobs, their attempts, submission tokens and
// the journal of the scheduler's inputs. Owned by one thread of one process; it blocks on the disk.
//
// Changes gather in a group, and commit() makes the group durable at once, all of it or nothing. A
// change reports only its own errors (a job that is not there, an id that is taken). Changes that
// the disk refuses are kept in memory, and commit() reports the failure; commit() may be tried
// again, or the group given up with rollback().
//
// A commit has two halves, because two promises stand behind it. What write() has taken outlives
// every process: it is the kernel's. What sync() has taken outlives a loss of power, too. A caller
// acts after the first, and promises something to a client only after the second.
//
// The next process finds everything that was committed: files that were deleted or replaced
// meanwhile are written anew from the open files before commit() returns.
//
// Reads show the writes of the open group. The file is for this user alone and is locked while the
// store lives; one process must not open it twice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/attempt_table.h"
#include "store/job_table.h"
#include "store/journal_table.h"
#include "store/setting_table.h"
#include "store/staged_table.h"
#include "store/walks.h"

namespace berth {

class Backing;

class Store {
 public:
  /// Creates the file if there is none and no sign that there should be one, in a folder that
  /// exists. A file that is empty, that is not a sound berth database or that a newer berth wrote
  /// is refused and not changed by a byte.
  static Result<std::unique_ptr<Store>> open(const std::string& path);
  ~Store();  // uncommitted writes are lost

  // --- groups

  /// Both halves. Cheap when there is nothing to commit. Unavailable: the committed changes are out
  /// of reach for the next process, and nothing more must be accepted; commit() tries to repair
  /// that each time.
  Result<void> commit();
  /// The same, for each half. After an error of sync(), what was written is to be committed again.
  Result<void> write();
  Result<void> sync();
  /// Whether files are not what they should be, at a cost of microseconds; commit() repairs that.
  bool misses_files() const;
  /// The next commit() checks the files, even with nothing to commit.
  void suspect_files() { suspect_ = true; }
  /// The last commit() failed with Unavailable.
  bool out_of_reach() const { return out_of_reach_; }
  /// Lets commit() and the destructor write files anew. `allowed` is called first, to check that
  /// the folder still belongs to this process. `done` is told what was wrong. Without a rescue, the
  /// store only reports that files are gone.
  struct Rescue {
    std::function<Result<void>()> allowed;
    std::function<void(const std::string&)> done;
  };
  void set_rescue(Rescue rescue) { rescue_ = std::move(rescue); }
  /// Undoes everything since the last commit. If a commit failed while it was being synced, a crash
  /// before the next one may still bring its changes back, all or none: "failed" does not mean
  /// "gone".
  void rollback();

  // --- contents: the references are valid while the store lives

  JobTable& jobs() { return jobs_; }
  const JobTable& jobs() const { return jobs_; }
  AttemptTable& attempts() { return attempts_; }
  StagedTable& staged() { return staged_; }
  Walks& walks() { return walks_; }
  SettingTable& settings() { return settings_; }
  JournalTable& journal() { return journal_; }

  // --- the size of the file

  /// Gives some of the unused space in the file back to the disk, if that is worth it. Costs about
  /// a millisecond, and now and then a commit. True: there is more.
  Result<bool> give_back();

 private:
  Store(std::string path, std::unique_ptr<Backing> backing);

  /// The result of a half of a commit, with a look at the files.
  Result<void> checked(Result<void> done);
  Result<void> keep_files();
  Result<void> write_anew(std::string& kept);

  std::string path_;
  std::unique_ptr<Backing> backing_;  // stays where it is: the tables refer to it
  JobTable jobs_;
  AttemptTable attempts_;
  StagedTable staged_;
  Walks walks_;
  SettingTable settings_;
  JournalTable journal_;

  Rescue rescue_;
  bool suspect_ = false;       // the next commit must check the files
  bool out_of_reach_ = false;  // the files are not what they should be
  std::uint64_t rescued_ = 0;  // the inode of the database that was written anew last
};

}  // namespace berth
