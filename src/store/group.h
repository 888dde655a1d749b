// Group: the changes since the database's own last commit. They are applied to an open transaction
// of the database and kept until that transaction is committed. The group's commits go to the redo
// log, and to the tables only when the log is full. A commit has two halves: write() and sync().
// When the disk fails, SQLite drops the transaction; the group can then apply its changes again.
#pragma once

#include <deque>
#include <optional>

#include "store/redo_log.h"
#include "store/writer.h"

namespace berth {

class Group {
 public:
  Group(Database& database, Writer& writer, RedoLog log)
      : database_(database),
        writer_(writer),
        log_(std::move(log)),
        committed_(writer.counters()),
        committed_size_(size_of(database)),
        least_size_(committed_size_),
        logged_number_(committed_.redone),
        synced_number_(committed_.redone) {}

  /// Applies the changes that are in the log but not in the tables. Call this first.
  Result<void> recover();

  /// An error only when the change itself is wrong; it is then not part of the group. A change that
  /// the disk refuses is kept, and commit() reports the failure.
  Result<void> add(Change change);

  /// All or nothing. After an error the changes are still here, to be written later.
  Result<void> write();
  /// What was written is durable when this returns. After an error it counts as never written.
  Result<void> sync();
  bool is_synced() const { return synced_ == logged_; }
  /// Drops the changes added since the last write.
  void rollback();
  /// Puts the committed changes into the tables. Call this when nothing is left to commit. If it
  /// fails, the changes are still in the log.
  Result<void> settle();
  /// The smallest size of the database in bytes, of those that it had at its commits since the
  /// last call of looked(). Its file has at least that.
  std::int64_t least_size() const { return least_size_; }
  /// The file was looked at, and is as long as it should be.
  void looked() { least_size_ = committed_size_; }
  /// See Store::give_back().
  Result<bool> shrink();
  bool has_changes() const { return changes_.size() != logged_; }
  /// The last call: settles, and leaves an empty log if the tables have everything.
  void close();

 private:
  static std::int64_t size_of(Database& database);
  Result<void> begin();
  Result<void> apply_all();
  Result<void> try_settle();
  void abandon();

  Database& database_;
  Writer& writer_;
  RedoLog log_;
  Counters committed_;
  std::int64_t committed_size_;
  std::int64_t least_size_;
  std::uint64_t logged_number_;  // of the newest entry of the log
  std::uint64_t synced_number_;  // of the newest that is synced
  std::deque<Change> changes_;
  std::size_t logged_ = 0;                  // how many of the changes are in the log
  std::size_t synced_ = 0;                  // how many of these are synced
  std::size_t rows_ = 0;                    // that the changes affect, about
  std::size_t logged_rows_ = 0;             // of these, those of changes in the log
  std::size_t shrunk_ = 0;                  // pages given back in the open transaction
  std::optional<Transaction> transaction_;  // absent: the changes are not applied now
};

}  // namespace berth
