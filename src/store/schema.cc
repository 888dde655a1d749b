#include "store/schema.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/failpoint.h"
#include "base/fd.h"
#include "store/store_files.h"

namespace berth {
namespace {

// Each table in words: docs/formats.md.
constexpr const char* kVersion1 = R"(
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY, state INTEGER NOT NULL, user INTEGER NOT NULL, submitted INTEGER NOT NULL,
  attempt INTEGER NOT NULL, priority INTEGER NOT NULL, needs INTEGER NOT NULL,
  held INTEGER NOT NULL, expected INTEGER, time_limit INTEGER, begins INTEGER, not_before INTEGER,
  retry BLOB, after BLOB, started INTEGER, project INTEGER, sweep INTEGER, name TEXT NOT NULL,
  array_index INTEGER, ended INTEGER, reason INTEGER, code INTEGER, signal INTEGER, peak INTEGER,
  gpu_time INTEGER, energy REAL, message TEXT);
CREATE INDEX jobs_by_state ON jobs(state);
CREATE INDEX jobs_by_project ON jobs(project) WHERE project IS NOT NULL;
CREATE INDEX jobs_by_sweep ON jobs(sweep) WHERE sweep IS NOT NULL;
CREATE INDEX jobs_by_end ON jobs(ended) WHERE ended IS NOT NULL;

CREATE TABLE details(
  job INTEGER PRIMARY KEY, command TEXT NOT NULL, directory INTEGER NOT NULL,
  environment INTEGER NOT NULL, rest BLOB);

CREATE TABLE labels(label INTEGER, job INTEGER, PRIMARY KEY(label, job)) WITHOUT ROWID;

CREATE TABLE attempts(
  job INTEGER, attempt INTEGER, devices BLOB NOT NULL, begun INTEGER NOT NULL, started INTEGER,
  pid INTEGER, stdout TEXT NOT NULL, stderr TEXT NOT NULL, outcome INTEGER, ended INTEGER,
  reason INTEGER, code INTEGER, signal INTEGER, peak INTEGER, gpu_time INTEGER, energy REAL,
  message TEXT, PRIMARY KEY(job, attempt)) WITHOUT ROWID;

CREATE TABLE shared(
  id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, uses INTEGER NOT NULL, content BLOB NOT NULL);
CREATE INDEX shared_by_hash ON shared(hash);

CREATE TABLE tokens(
  first INTEGER PRIMARY KEY, count INTEGER NOT NULL, user INTEGER NOT NULL, token TEXT NOT NULL);
CREATE UNIQUE INDEX tokens_by_token ON tokens(token, user);

CREATE TABLE journal(entry INTEGER PRIMARY KEY, time INTEGER NOT NULL, input BLOB NOT NULL);

CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
)";

Result<void> create_version_1(Database& database) { return database.execute(kVersion1); }

constexpr const char* kVersion2 = R"(
ALTER TABLE jobs ADD COLUMN warn_before INTEGER;
CREATE TABLE settings(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
)";

Result<void> create_version_2(Database& database) { return database.execute(kVersion2); }

// A berth that does not know the redo log must not open the file. The log's numbers begin anywhere,
// so that the log of one database is never taken for another's.
constexpr const char* kVersion3 = R"(
INSERT INTO counters(name, value) VALUES('redone', random() & 0x3fffffffffffffff);
)";

Result<void> create_version_3(Database& database) { return database.execute(kVersion3); }

constexpr const char* kVersion4 = R"(
ALTER TABLE jobs ADD COLUMN claim INTEGER;
ALTER TABLE jobs ADD COLUMN memory_retries INTEGER;
ALTER TABLE attempts ADD COLUMN peaks BLOB;
)";

Result<void> create_version_4(Database& database) { return database.execute(kVersion4); }

constexpr const char* kVersion5 = R"(
ALTER TABLE jobs ADD COLUMN weight INTEGER;
)";

Result<void> create_version_5(Database& database) { return database.execute(kVersion5); }

// With `begun`, so that a walk over what ran at some time need not look at each record.
constexpr const char* kVersion6 = R"(
CREATE INDEX attempts_by_end ON attempts(ended, begun) WHERE ended IS NOT NULL;
)";

Result<void> create_version_6(Database& database) { return database.execute(kVersion6); }

// A berth that does not know them would take half of a submission for jobs.
constexpr const char* kVersion7 = R"(
CREATE TABLE staged(
  first INTEGER PRIMARY KEY, count INTEGER NOT NULL, complete INTEGER NOT NULL);
)";

Result<void> create_version_7(Database& database) { return database.execute(kVersion7); }

// Entries of the journal name no rows of other tables any more. Of an older journal the time of the
// last entry is kept, as a step: the clock goes on from there.
constexpr const char* kVersion8 = R"(
CREATE TEMP TABLE newest AS SELECT entry, time FROM journal ORDER BY entry DESC LIMIT 1;
DELETE FROM journal;
INSERT INTO journal(entry, time, input) SELECT entry, time, x'0c' FROM newest;
DROP TABLE newest;
)";

Result<void> create_version_8(Database& database) { return database.execute(kVersion8); }

// Jobs name the cluster that they are for. A berth that does not know of clusters would run them
// here.
Result<void> create_version_9(Database&) { return {}; }

constexpr std::array<MigrationStep, 9> kSteps = {
    create_version_1, create_version_2, create_version_3, create_version_4, create_version_5,
    create_version_6, create_version_7, create_version_8, create_version_9};

/// What to do about a file that berth will not touch.
Failure refuse(const std::string& path, const std::string& problem) {
  return fail(ErrorCode::Refused,
              fmt::format("{} {}; berth leaves it as it is: move it away to begin with an empty "
                          "queue, or put a backup in its place",
                          path, problem));
}

Failure refuse_newer(const std::string& path, std::int64_t version, std::size_t known) {
  return fail(ErrorCode::Refused,
              fmt::format("{} was written by a newer berth (format {}; this berth knows up to {}); "
                          "berth leaves it as it is: upgrade berth, or move the file away",
                          path, version, known));
}

Failure explain(const std::string& path, const Error& error) {
  if (error.code == ErrorCode::Unavailable) {
    return fail(ErrorCode::Unavailable, fmt::format("{} is in use by another berth daemon", path));
  }
  return refuse(path, fmt::format("cannot be used ({})", error.message));
}

std::uint32_t big_endian(const unsigned char* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | static_cast<std::uint32_t>(bytes[3]);
}

/// Looks at the header before SQLite does, which might already tidy up.
Result<void> check_header(const std::string& path, std::size_t known) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return refuse(path, fmt::format("cannot be opened ({})", strerrordesc_np(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    return refuse(path, "is not a file");
  }
  if (status.st_size == 0) {
    return refuse(path, "is empty, and berth has never left it so");
  }
  constexpr std::size_t kHeader = 100;
  std::array<unsigned char, kHeader> header{};
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  const ssize_t got = ::pread(file.get(), header.data(), header.size(), 0);
  if (got < 0) {
    return refuse(path, fmt::format("cannot be read ({})", strerrordesc_np(errno)));
  }
  if (static_cast<std::size_t>(got) < kHeader ||
      !std::equal(kMagic.begin(), kMagic.end(), header.begin(),
                  [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; })) {
    return refuse(path, "is not a database");
  }
  const std::uint32_t version = big_endian(&header[60]);
  if (big_endian(&header[68]) == kApplicationId && version > known) {
    return refuse_newer(path, version, known);
  }
  return {};
}

/// The version; reads only. In exclusive mode the first read takes the lock that is held until the
/// end.
Result<std::int64_t> look_inside(Database& database) {
  if (const Result<void> set =
          database.execute("PRAGMA busy_timeout = 1000; PRAGMA locking_mode = EXCLUSIVE; "
                           "PRAGMA foreign_keys = OFF; PRAGMA cell_size_check = ON");
      !set) {
    return Failure(set.error());
  }
  // The first statement to look at the content: what is damaged shows here.
  if (const auto tables = database.number("SELECT count(*) FROM sqlite_master"); !tables) {
    return Failure(tables.error());
  }
  const Result<std::int64_t> application = database.number("PRAGMA application_id");
  const Result<std::int64_t> version = database.number("PRAGMA user_version");
  if (!application || !version) {
    return Failure(application ? version.error() : application.error());
  }
  if (*application != kApplicationId) {
    return fail(ErrorCode::Refused, "it is the database of another program");
  }
  return version;
}

Result<void> migrate(Database& database, std::int64_t from, std::span<const MigrationStep> steps) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) {
    return Failure(transaction.error());
  }
  for (const MigrationStep step : steps.subspan(static_cast<std::size_t>(from))) {
    if (Result<void> done = step(database); !done) {
      return done;
    }
  }
  const std::string marks = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                        kApplicationId, steps.size());
  if (Result<void> marked = database.execute(marks.c_str()); !marked) {
    return marked;
  }
  return transaction->commit();
}

/// Under another name until it is complete: a file of zero bytes is never berth's doing. SQLite
/// would not keep others from reading it, so it is made here.
Result<void> create(const std::string& path, std::span<const MigrationStep> steps) {
  if (Result<void> absent = check_absence(path); !absent) {
    return absent;
  }
  const std::string made = path + "-new";
  if (Result<void> fresh = make_fresh_file(made); !fresh) {
    return fresh;
  }
  {
    Result<Database> database = Database::open(made);
    Result<void> filled = database ? database->execute("PRAGMA auto_vacuum = INCREMENTAL")
                                   : Result<void>(Failure(database.error()));
    filled = filled ? migrate(*database, 0, steps) : filled;
    if (!filled) {
      return fail(filled.error().code,
                  fmt::format("cannot make {}: {}", path, filled.error().message));
    }
  }
  (void)BERTH_FAILPOINT("store.created");
  Result<void> named = give_name(made, path);
  (void)BERTH_FAILPOINT("store.create_named");
  return named;
}

/// A database of a berth before version 8 cannot give pages back. It is written anew once, when it
/// is small enough for that to be quick: where it is not, after jobs were forgotten. One that there
/// is no room to write stays as it is.
void let_shrink(Database& database) {
  constexpr std::int64_t kQuick = 64 << 20;
  const auto size = database.number(
      "SELECT (page_count - freelist_count) * page_size "
      "FROM pragma_page_count, pragma_freelist_count, pragma_page_size");
  const auto vacuum = database.number("PRAGMA auto_vacuum");
  if (size && vacuum && *vacuum == 0 && *size < kQuick) {
    (void)database
        .execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        .has_value();
  }
}

/// Every commit reaches the disk; the log is moved into the file each 4 MiB.
Result<void> configure(Database& database) {
  return database.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; "
      "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 1024; "
      "PRAGMA journal_size_limit = 4194304");
}

}  // namespace

std::span<const MigrationStep> migration_steps() { return kSteps; }

Result<Database> open_database(const std::string& path, std::span<const MigrationStep> steps) {
  if (struct stat there{}; ::stat(path.c_str(), &there) != 0 && errno == ENOENT) {
    if (const Result<void> created = create(path, steps); !created) {
      return Failure(created.error());
    }
  }
  if (const Result<void> header = check_header(path, steps.size()); !header) {
    return Failure(header.error());
  }
  Result<Database> database = Database::open(path);
  if (!database) {
    return explain(path, database.error());
  }
  database->merge_log_on_close(false);  // until it is known to be ours
  const Result<std::int64_t> found = look_inside(*database);
  if (!found) {
    return explain(path, found.error());
  }
  if (*found > static_cast<std::int64_t>(steps.size())) {
    return refuse_newer(path, *found, steps.size());
  }
  const bool outdated = *found < static_cast<std::int64_t>(steps.size());
  if (outdated) {
    if (const Result<void> migrated = migrate(*database, *found, steps); !migrated) {
      return explain(path, migrated.error());
    }
  }
  if (const Result<void> configured = configure(*database); !configured) {
    return explain(path, configured.error());
  }
  if (outdated) {
    // The header must show the version even after a crash: see check_header().
    if (const Result<void> merged = database->execute("PRAGMA wal_checkpoint(TRUNCATE)"); !merged) {
      return explain(path, merged.error());
    }
  }
  let_shrink(*database);
  ::chmod(path.c_str(), 0600);
  database->merge_log_on_close(true);
  return database;
}

}  // namespace berth
