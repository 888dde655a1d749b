// Store: the daemon's durable state in one SQLite file: jobs, their attempts, submission tokens and
// the journal of the scheduler's inputs. Owned by one thread of one process; it blocks on the disk.
//
// Writes gather in a group, and commit() makes the group durable at once, all of it or nothing. A
// write reports only what is wrong with itself (a job that is not there, an id that is taken); what
// the disk refuses is kept in memory and reported by commit(), which may be tried again or given up
// with rollback(). Whoever promises something to a client does so after commit().
//
// What is committed is where the next process looks for it: files that were deleted or replaced
// meanwhile are written anew, from those that are open, before commit() returns.
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
  /// Creates the file where there is none and no sign that there should be one, in a folder that
  /// exists. A file that is empty, that is not a sound database of berth or that a newer berth
  /// wrote is refused and not changed by a byte.
  static Result<std::unique_ptr<Store>> open(const std::string& path);
  ~Store();  // what was not committed is lost

  // --- groups

  /// Cheap when there is nothing to commit. Unavailable: what was committed is out of reach for the
  /// next process, and nothing more must be accepted; commit() tries to mend that each time.
  Result<void> commit();
  /// Whether files are not what they should be, at a cost of microseconds; commit() mends that.
  bool misses_files() const;
  /// The next commit() looks at the files, even with nothing to commit.
  void suspect_files() { suspect_ = true; }
  /// The last commit() failed with Unavailable.
  bool out_of_reach() const { return out_of_reach_; }
  /// Lets commit() and the destructor write files anew. `allowed` is asked first: whether this is
  /// still the process to whom the folder belongs. `done` is told what was wrong. Without this the
  /// store says that files are gone, and leaves it at that.
  struct Rescue {
    std::function<Result<void>()> allowed;
    std::function<void(const std::string&)> done;
  };
  void set_rescue(Rescue rescue) { rescue_ = std::move(rescue); }
  /// Undoes everything since the last commit. If a commit failed while it was being synced, a crash
  /// before the next one may still bring its changes back, all or none: to be told "failed" is not
  /// to be told "gone".
  void rollback();

  // --- jobs

  /// The smallest id that was never used.
  JobId next_id() const;

  /// `count` jobs with ids from `first`, which must not be below next_id(); array indices, if any,
  /// count up from the description's. They begin queued or held, as the spec says.
  Result<void> insert(JobId first, std::uint32_t count, JobDescription description, Time submitted);
  /// The same with an environment that many jobs share; the description's own is ignored.
  using Environment = std::shared_ptr<const std::string>;
  static Environment share_environment(const std::vector<std::string>& variables);
  Result<void> insert(JobId first, std::uint32_t count, JobDescription description,
                      Environment environment, Time submitted);

  /// Whether insert() and amend() would refuse such a job: to be asked before anybody acts on it.
  static Result<void> check(const JobDescription& description, const Environment& environment);

  /// Very many jobs, little by little (see staged.h): keeps `count` numbers from `first` on, which
  /// must not be below next_id(), for jobs that insert() then brings and nobody sees. When all are
  /// there they are complete, and only then can they be shown; both or either may be found after a
  /// restart, see staging().
  Result<void> stage(JobId first, std::uint64_t count);
  Result<void> complete_staged(JobId first);
  /// The first `count` of those that are staged from `first` on; `held` of them are held.
  Result<void> show_staged(JobId first, std::uint64_t count, std::uint64_t held);
  /// As many of them as if they had never been.
  Result<void> drop_staged(JobId first, std::uint64_t count);
  /// What is staged now. After open() nothing of it is complete: that is shown already.
  const Staging& staging() const;

  /// The jobs of a submission can be found again by its token, until the first is forgotten.
  Result<void> remember_token(uid_t user, std::string token, Submission submission);
  Result<std::optional<Submission>> find_token(uid_t user, std::string_view token);

  /// Held or queued: after hold, release, the end of an attempt that is tried again, or a rerun of
  /// a job that had ended.
  Result<void> set_waiting(JobId job, bool held, Time not_before);
  /// A waiting job has changed; `held` stays as submitted, and it may start from `spec.begin` on.
  Result<void> amend(JobId job, JobSpec spec, std::string name, std::string command);
  /// A waiting job claims so much from here on, whatever it was submitted with; 0: it is to have
  /// its devices alone. So many of its attempts ran out of memory.
  Result<void> set_claim(JobId job, Bytes memory, std::uint8_t memory_retries);
  /// It has devices: a new attempt, and the job is starting. Later fields of the record are
  /// ignored.
  Result<void> begin_attempt(StoredAttempt attempt);
  /// Its process is there: the job is running.
  Result<void> start_attempt(JobId job, std::uint16_t attempt, pid_t pid, Time started);
  /// It has been asked to end: whoever takes it up after a restart must ask again, and knows why it
  /// ended. Until its attempt is over.
  Result<void> set_stopping(JobId job, Stopping why);
  /// How the attempt ended. What becomes of the job is told by set_waiting() or end_job().
  Result<void> end_attempt(JobId job, std::uint16_t attempt, Ending ending);
  Result<void> end_job(JobId job, Ending ending);

  /// Deletes ended jobs with their attempts; see ForgetQuery. Remove the logs after commit().
  Result<Forgotten> forget(const ForgetQuery& query);

  // --- reading jobs

  /// Every job that has not ended, by id. The store must not be used from within `visit`.
  Result<void> for_each_live(const std::function<void(const LiveJob&)>& visit);
  Result<JobRecord> job(JobId id);
  /// As a list has it: its environment may be long.
  Result<JobRecord> job_without_environment(JobId id);
  Result<JobPhase> phase(JobId id);
  Result<JobPage> list(const JobQuery& query);
  const PhaseCounts& counts() const;

  // Walks over many, for a caller who has others to serve meanwhile: some at a time, by numbers or
  // up to `most` rows, going on where `at` has come to; false when that was all. From within
  // `visit` the store must not be used, but for shared_text().
  Result<void> scan(const ScanQuery& query, const std::function<void(const ScannedJob&)>& visit);
  /// Attempts that ended at `ended_from` or later and began at `begun_to` or before, the newest end
  /// first.
  Result<bool> walk_attempts(AttemptCursor& at, Time ended_from, Time begun_to, std::size_t most,
                             const std::function<void(const EndedAttempt&)>& visit);
  /// How jobs ended that did so at `from` or later.
  Result<bool> walk_ends(EndCursor& at, Time from, std::size_t most,
                         const std::function<void(JobPhase)>& visit);
  /// Each label of each job, equal ones in a row.
  Result<bool> walk_labels(LabelCursor& at, std::size_t most,
                           const std::function<void(std::int64_t label)>& visit);
  /// What such a number of a walk stands for.
  Result<std::string> shared_text(std::int64_t id);
  Result<std::pair<std::string, std::string>> label_text(std::int64_t label);
  /// The newest of them, in order.
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
  /// All of it; a first part that no replay could begin with is one, too.
  Result<std::vector<JournalPart>> journal_parts();
  /// About how much disk the entries take that were appended since open().
  std::uint64_t appended_bytes() const { return appended_; }
  /// In steps, where there are very many: each deletes as many rows as it names.
  Result<void> forget_journal_before(std::uint64_t entry);

  // --- the size of the file

  /// Gives some of what is unused in the file back to the disk, if that is worth it: at a cost of
  /// about a millisecond, and now and then of a commit. True: there is more.
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
  bool suspect_ = false;       // the next commit must look at the files
  bool out_of_reach_ = false;  // they are not what they should be
  std::uint64_t appended_ = 0;
  std::uint64_t rescued_ = 0;  // the inode of the database that was written anew last
};

}  // namespace berth
