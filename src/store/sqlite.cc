#include "store/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace berth {
namespace {

/// A broken rule of the schema is the caller's mistake; the rest is the disk's or the file's.
ErrorCode kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
      return ErrorCode::Refused;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::Unavailable;
    case SQLITE_INTERRUPT:
      return ErrorCode::Timeout;
    default:
      return ErrorCode::Io;
  }
}

Failure failure(sqlite3* handle, int code) {
  const int extended = handle != nullptr ? sqlite3_extended_errcode(handle) : code;
  std::string message = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  if ((extended & 0xff) == SQLITE_IOERR && handle != nullptr) {
    if (const int cause = sqlite3_system_errno(handle); cause != 0) {
      return fail_errno(std::move(message), cause);
    }
  }
  return fail(kind_of(code), std::move(message));
}

}  // namespace

// --- Statement

void Statement::bind(int index, std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  bound(sqlite3_bind_text64(handle_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int index, Blob blob) {
  const char* data = blob.bytes.data() != nullptr ? blob.bytes.data() : "";
  bound(sqlite3_bind_blob64(handle_.get(), index, data, blob.bytes.size(), SQLITE_STATIC));
}

Result<bool> Statement::step() {
  if (bind_error_ != SQLITE_OK) {
    return fail(kind_of(bind_error_), sqlite3_errstr(bind_error_));
  }
  switch (const int code = sqlite3_step(handle_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default: {
      Failure problem = failure(sqlite3_db_handle(handle_.get()), code);
      reset();
      return problem;
    }
  }
}

Result<void> Statement::finish() {
  const Result<bool> row = step();
  reset();
  if (!row) {
    return Failure(row.error());
  }
  return {};
}

void Statement::reset() {
  bind_error_ = SQLITE_OK;
  if (handle_ != nullptr) {
    sqlite3_reset(handle_.get());
  }
}

bool Statement::null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return {static_cast<const char*>(data), data != nullptr ? static_cast<std::size_t>(size) : 0};
}

// --- TimeLimit

TimeLimit::TimeLimit(Database& database, Duration at_most)
    : database_(database), until_(std::chrono::steady_clock::now() + at_most) {
  constexpr int kSteps = 1000;  // of SQLite's machine, some tens of microseconds
  sqlite3_progress_handler(
      database_.handle_.get(), kSteps,
      [](void* until) {
        const auto end = *static_cast<const std::chrono::steady_clock::time_point*>(until);
        return std::chrono::steady_clock::now() >= end ? 1 : 0;
      },
      &until_);
}

TimeLimit::~TimeLimit() { sqlite3_progress_handler(database_.handle_.get(), 0, nullptr, nullptr); }

// --- Database

Result<Database> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return failure(handle, code);
  }
  sqlite3_extended_result_codes(handle, 1);
  if (sqlite3_db_readonly(handle, "main") != 0) {
    return fail(ErrorCode::Io, "it cannot be written");
  }
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  Statement statement;
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  if (code != SQLITE_OK) {
    return failure(handle_.get(), code);
  }
  statement.handle_.reset(handle);
  return statement;
}

Result<void> Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return failure(handle_.get(), code);
  }
  return {};
}

Result<std::int64_t> Database::number(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) {
    return Failure(statement.error());
  }
  const Result<bool> row = statement->step();
  if (!row) {
    return Failure(row.error());
  }
  return *row ? statement->integer(0) : 0;
}

Result<void> Database::copy_to(const std::string& path) {
  if (Result<void> merged = execute("PRAGMA wal_checkpoint(TRUNCATE)"); !merged) {
    return merged;
  }
  Result<Statement> copy = prepare("VACUUM INTO ?1");
  if (!copy) {
    return Failure(copy.error());
  }
  if (Result<void> copied = copy->run(std::string_view(path)); !copied) {
    return copied;
  }
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));  // SQLite does not sync a copy
  if (!file || ::fsync(file.get()) != 0) {
    return fail_errno("cannot sync " + path, errno);
  }
  return {};
}

void Database::merge_log_on_close(bool merge) {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, merge ? 0 : 1, nullptr);
}

// --- Transaction

Result<Transaction> Transaction::begin(Database& database) {
  if (const Result<void> begun = database.execute("BEGIN IMMEDIATE"); !begun) {
    return Failure(begun.error());
  }
  return Transaction(database);
}

Result<void> Transaction::commit() {
  Result<void> done = database_->execute("COMMIT");
  if (done) {
    database_ = nullptr;
  } else {
    rollback();
  }
  return done;
}

void Transaction::rollback() {
  // SQLite may have rolled back by itself when a write failed.
  if (database_ != nullptr && database_->in_transaction()) {
    (void)database_->execute("ROLLBACK").has_value();
  }
  database_ = nullptr;
}

}  // namespace berth
