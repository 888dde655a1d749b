// Store: the daemon's durable state in one SQLite file: jobs, their attempts, submission tokens and
// the journal of the scheduler's inputs. Owned by one thread of one process; it blocks on the disk.
//
// Writes gather in a group, and commit() makes the group durable at once, all of it or nothing. A
// write reports only its own errors (a job that is not there, an id that is taken). Writes that the
// disk refuses are kept in memory, and commit() reports the failure; commit() may be tried again,
// or the group given up with rollback(). A caller promises something to a client only after
// commit().
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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/journal.h"
#include "store/query.h"
#include "store/records.h"
#include "store/staged.h"

namespace berth {

class Store {
 public:
  /// Creates the file if there is none and no sign that there should be one, in a folder that
  /// exists. A file that is empty, that is not a sound berth database or that a newer berth wrote
  /// is refused and not changed by a byte.
  static Result<std::unique_ptr<Store>> open(const std::string& path);
  ~Store();  // uncommitted writes are lost

  // --- groups

  /// Cheap when there is nothing to commit. Unavailable: the committed changes are out of reach for
  /// the next process, and nothing more must be accepted; commit() tries to repair that each time.
  Result<void> commit();
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

  // --- jobs

  /// The smallest id that was never used.
  JobId next_id() const;

  /// Inserts `count` jobs with ids from `first`, which must not be below next_id(); array indices,
  /// if any, count up from the description's. The jobs begin queued or held, as the spec says.
  Result<void> insert(JobId first, std::uint32_t count, JobDescription description, Time submitted);
  /// The same with an environment that many jobs share; the description's own is ignored.
  using Environment = std::shared_ptr<const std::string>;
  static Environment share_environment(const std::vector<std::string>& variables);
  Result<void> insert(JobId first, std::uint32_t count, JobDescription description,
                      Environment environment, Time submitted);

  /// Whether insert() and amend() would refuse such a job. Call this before acting on the job.
  static Result<void> check(const JobDescription& description, const Environment& environment);

  /// Stages very many jobs, little by little (see staged.h): reserves `count` numbers from `first`
  /// on, which must not be below next_id(), for jobs that insert() then adds and that stay hidden.
  /// When all of them are written they are complete, and only then can they be shown. After a
  /// restart, staged jobs may be found in either state; see staging().
  Result<void> stage(JobId first, std::uint64_t count);
  Result<void> complete_staged(JobId first);
  /// Shows the first `count` jobs staged from `first` on; `held` of them are held.
  Result<void> show_staged(JobId first, std::uint64_t count, std::uint64_t held);
  /// Drops the first `count` of these jobs, as if they had never existed.
  Result<void> drop_staged(JobId first, std::uint64_t count);
  /// The jobs staged now. After open(), none of them are complete: complete jobs are shown already.
  const Staging& staging() const;

  /// The jobs of a submission can be found again by its token, until the first job is forgotten.
  Result<void> remember_token(uid_t user, std::string token, Submission submission);
  Result<std::optional<Submission>> find_token(uid_t user, std::string_view token);

  /// Makes a job held or queued: after hold, release, the end of an attempt that is tried again, or
  /// a rerun of a job that had ended.
  Result<void> set_waiting(JobId job, bool held, Time not_before);
  /// A waiting job has changed; `held` stays as submitted, and the job may start from `spec.begin`
  /// on.
  Result<void> amend(JobId job, JobSpec spec, std::string name, std::string command);
  /// A waiting job claims `memory` from here on, whatever it was submitted with; 0: it is to have
  /// its devices alone. `memory_retries` of its attempts ran out of memory.
  Result<void> set_claim(JobId job, Bytes memory, std::uint8_t memory_retries);
  /// The job has devices: it begins a new attempt and is starting. Later fields of the record are
  /// ignored.
  Result<void> begin_attempt(StoredAttempt attempt);
  /// The process of the attempt exists: the job is running.
  Result<void> start_attempt(JobId job, std::uint16_t attempt, pid_t pid, Time started);
  /// The job has been asked to end. After a restart, the daemon must ask it again, and knows why it
  /// ended. Holds until the attempt is over.
  Result<void> set_stopping(JobId job, Stopping why);
  /// How the attempt ended. set_waiting() or end_job() tells what becomes of the job.
  Result<void> end_attempt(JobId job, std::uint16_t attempt, Ending ending);
  Result<void> end_job(JobId job, Ending ending);

  /// Deletes ended jobs with their attempts; see ForgetQuery. Remove the logs after commit().
  Result<Forgotten> forget(const ForgetQuery& query);

  // --- reading jobs

  /// Every job that has not ended, by id. The store must not be used from within `visit`.
  Result<void> for_each_live(const std::function<void(const LiveJob&)>& visit);
  Result<JobRecord> job(JobId id);
  /// The job as lists have it: its environment may be long.
  Result<JobRecord> job_without_environment(JobId id);
  Result<JobPhase> phase(JobId id);
  Result<JobPage> list(const JobQuery& query);
  const PhaseCounts& counts() const;

  // Walks over many rows, for a caller with other clients to serve. Each call visits some rows, by
  // numbers or up to `most`, and continues where `at` stands; false when that was all. `visit` must
  // not use the store, except for shared_text().
  Result<void> scan(const ScanQuery& query, const std::function<void(const ScannedJob&)>& visit);
  /// Attempts that ended at `ended_from` or later and began at `begun_to` or before, the newest end
  /// first.
  Result<bool> walk_attempts(AttemptCursor& at, Time ended_from, Time begun_to, std::size_t most,
                             const std::function<void(const EndedAttempt&)>& visit);
  /// The phases of jobs that ended at `from` or later.
  Result<bool> walk_ends(EndCursor& at, Time from, std::size_t most,
                         const std::function<void(JobPhase)>& visit);
  /// Each label of each job, equal labels in a row.
  Result<bool> walk_labels(LabelCursor& at, std::size_t most,
                           const std::function<void(std::int64_t label)>& visit);
  /// The text that such a number of a walk stands for.
  Result<std::string> shared_text(std::int64_t id);
  Result<std::pair<std::string, std::string>> label_text(std::int64_t label);
  /// The newest attempts, in order.
  Result<std::vector<StoredAttempt>> attempts(JobId job, std::size_t newest = SIZE_MAX);
  Result<std::optional<StoredAttempt>> attempt(JobId job, std::uint16_t number);

  // --- settings: what the daemon was told and must still know after a restart

  Result<void> set_setting(std::string name, std::string value);
  Result<std::optional<std::string>> setting(std::string_view name);

  // --- the input journal

  /// The number of the next entry.
  std::uint64_t next_entry() const;
  Result<void> append(Time time, const JournalInput& input);
  /// Up to `limit` entries from number `from` on; fewer only at the end.
  Result<std::vector<JournalEntry>> journal(std::uint64_t from, std::size_t limit);
  /// All parts of the journal, including a first part that no replay could begin with.
  Result<std::vector<JournalPart>> journal_parts();
  /// About how much disk space the entries appended since open() take.
  std::uint64_t appended_bytes() const { return appended_; }
  /// Call this in steps if there are very many entries: each call deletes all rows that it names.
  Result<void> forget_journal_before(std::uint64_t entry);

  // --- the size of the file

  /// Gives some of the unused space in the file back to the disk, if that is worth it. Costs about
  /// a millisecond, and now and then a commit. True: there is more.
  Result<bool> give_back();

 private:
  struct Parts;
  static Result<void> show_complete(Parts& parts);
  Store(std::string path, std::unique_ptr<Parts> parts);

  Result<void> keep_files();
  Result<void> write_anew(std::string& kept);

  std::string path_;
  std::unique_ptr<Parts> parts_;
  Rescue rescue_;
  bool suspect_ = false;       // the next commit must check the files
  bool out_of_reach_ = false;  // the files are not what they should be
  std::uint64_t appended_ = 0;
  std::uint64_t rescued_ = 0;  // the inode of the database that was written anew last
};

}  // namespace berth
