// A thin layer over SQLite's C interface: handles that close themselves, statements that are
// prepared once, and every error as a Result with the database's own message. For one thread.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace berth {

/// Bytes to be bound as a BLOB; a std::string_view is bound as TEXT.
struct Blob {
  std::string_view bytes;
};

/// A prepared statement. It must not outlive its Database.
class Statement {
 public:
  Statement() = default;

  /// Starts over with these values for ?1, ?2 and so on. The data they point to must live until the
  /// next start() or reset().
  template <class... Values>
  void start(const Values&... values) {
    reset();
    int index = 0;
    (bind(++index, values), ...);
  }

  /// Continues: true when there is a row to read.
  Result<bool> step();

  /// Starts and runs to the end: for statements without rows.
  template <class... Values>
  Result<void> run(const Values&... values) {
    start(values...);
    return finish();
  }

  /// Releases the rows. Bound values stay bound, so every start() must give all of them.
  void reset();

  void bind(int index, std::nullopt_t) { bound(sqlite3_bind_null(handle_.get(), index)); }
  void bind(int index, double value) { bound(sqlite3_bind_double(handle_.get(), index, value)); }
  void bind(int index, std::string_view text);
  void bind(int index, Blob blob);
  template <std::integral Integer>
  void bind(int index, Integer value) {
    bound(sqlite3_bind_int64(handle_.get(), index, static_cast<std::int64_t>(value)));
  }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    value.has_value() ? bind(index, *value) : bind(index, std::nullopt);
  }

  // Columns of the current row, from 0. Views are valid until the next step, start or reset.
  bool null(int column) const;
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  std::string_view bytes(int column) const;  // of TEXT and of BLOB alike

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };

  Result<void> finish();
  void bound(int code) { bind_error_ = code == SQLITE_OK ? bind_error_ : code; }

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bind_error_ = SQLITE_OK;
};

class Database {
 public:
  /// The file must exist; an empty one is an empty database. A file that this user cannot write is
  /// an error.
  static Result<Database> open(const std::string& path);

  Result<Statement> prepare(std::string_view sql);

  /// Runs statements that give no rows.
  Result<void> execute(const char* sql);

  /// The first column of the first row.
  Result<std::int64_t> number(std::string_view sql);

  /// Rows that the last statement changed.
  int changes() const { return sqlite3_changes(handle_.get()); }

  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

  /// Writes the whole database, as committed, to another file, which must be empty; durably. No
  /// transaction may be open. Afterwards, the database's own file has everything, too, and nothing
  /// is left in its log.
  Result<void> copy_to(const std::string& path);

  /// Whether closing moves the write-ahead log into the file, which is SQLite's default.
  void merge_log_on_close(bool merge);

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  friend class TimeLimit;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// While it lives, a statement that reads ends with an error of the kind Timeout when the time is
/// over. Only one may live at a time. Not for statements that write: interrupting one would undo
/// more than that statement.
class TimeLimit {
 public:
  TimeLimit(Database& database, Duration at_most);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit();

 private:
  Database& database_;
  std::chrono::steady_clock::time_point until_;
};

/// A unit of change that is undone unless commit() succeeds.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() { rollback(); }

  /// After an error nothing of the transaction remains.
  Result<void> commit();
  void rollback();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace berth
