#include "store/group.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/failpoint.h"
#include "store/change_coding.h"

namespace berth {
namespace {

/// A commit of the database writes all that has changed since the last: no more than takes some
/// tens of milliseconds.
constexpr std::size_t kMostRows = 10'000;

std::size_t rows_of(const Change& change) {
  if (const auto* insert = std::get_if<InsertJobs>(&change)) {
    return insert->count;
  }
  if (const auto* forget = std::get_if<ForgetJobs>(&change)) {
    return forget->jobs.size();
  }
  if (const auto* drop = std::get_if<DropStaged>(&change)) {
    return drop->count;
  }
  return 1;
}

/// Unused pages that are left alone: the next rows take them.
constexpr std::int64_t kSpare = 128;
/// Given back in one go, and in one transaction.
constexpr std::size_t kPagesAtOnce = 50;
constexpr std::size_t kMostPages = 500;

bool blames_change(const Error& error) {
  return error.code == ErrorCode::NotFound || error.code == ErrorCode::Refused;
}

}  // namespace

Result<void> Group::add(Change change) {
  if (transaction_ || (changes_.empty() && begin().has_value())) {
    Result<void> applied = writer_.apply(change);
    if (!applied && blames_change(applied.error())) {
      return applied;
    }
    if (!applied) {
      abandon();
    }
  }
  rows_ += rows_of(change);
  changes_.push_back(std::move(change));
  return {};
}

Result<void> Group::recover() {
  for (const std::string& entry : log_.recover(committed_.redone)) {
    std::optional<std::vector<Change>> changes = decode_changes(entry);
    if (!changes) {
      return fail(ErrorCode::Refused, "its redo log makes no sense");
    }
    for (Change& change : *changes) {
      // One that is wrong in itself was so then, too.
      (void)add(std::move(change)).has_value();
    }
    ++logged_number_;
  }
  logged_ = synced_ = changes_.size();
  logged_rows_ = rows_;
  synced_number_ = logged_number_;
  return {};
}

Result<void> Group::write() {
  if (!has_changes()) {
    return {};
  }
  if (const int error = BERTH_FAILPOINT("store.commit")) {
    return fail_errno("cannot write the queue to disk", error);
  }
  // Reads must show what is promised.
  if (!transaction_) {
    if (Result<void> applied = apply_all(); !applied) {
      return applied;
    }
  }
  // So many at once would be written twice for nothing.
  const std::optional<std::string> entry = rows_ - logged_rows_ > kMostRows
                                               ? std::nullopt
                                               : encode_changes(changes_, logged_, log_.room());
  if (!entry) {
    return settle();
  }
  if (Result<void> appended = log_.append(logged_number_ + 1, *entry); !appended) {
    return appended;
  }
  ++logged_number_;
  logged_ = changes_.size();
  logged_rows_ = rows_;
  return {};
}

Result<void> Group::sync() {
  if (is_synced()) {
    return {};
  }
  if (rows_ > kMostRows) {
    return settle();  // now, rather than in write(): what waits for that only is under way
  }
  Result<void> done = log_.sync();
  if (!done) {
    logged_ = synced_;
    logged_number_ = synced_number_;
    logged_rows_ = 0;  // about; only a large difference matters
    return done;
  }
  synced_ = logged_;
  synced_number_ = logged_number_;
  return {};
}

Result<void> Group::settle() {
  Result<void> done = try_settle();
  if (!done) {
    abandon();
    // So that reads go on to show what was accepted. If this fails too, the next commit will see.
    (void)apply_all().has_value();
    return done;
  }
  committed_ = writer_.counters();
  changes_.clear();
  logged_ = synced_ = 0;
  synced_number_ = logged_number_;
  rows_ = logged_rows_ = 0;
  shrunk_ = 0;
  log_.clear();
  transaction_.reset();
  committed_size_ = size_of(database_);
  least_size_ = std::min(least_size_, committed_size_);
  return {};
}

Result<void> Group::try_settle() {
  if (!transaction_) {
    if (Result<void> applied = apply_all(); !applied) {
      return applied;
    }
  }
  if (Result<void> flushed = writer_.flush(committed_, logged_number_); !flushed) {
    return flushed;
  }
  return transaction_->commit();
}

Result<bool> Group::shrink() {
  const Result<std::int64_t> unused = database_.number("PRAGMA freelist_count");
  if (!unused) {
    return Failure(unused.error());
  }
  constexpr std::int64_t kIncremental = 2;
  const bool more =
      *unused > kSpare && database_.number("PRAGMA auto_vacuum").value_or(0) == kIncremental;
  if (more && shrunk_ < kMostPages) {
    if (!transaction_ && !apply_all()) {
      return false;
    }
    const std::string step = fmt::format("PRAGMA incremental_vacuum({})", kPagesAtOnce);
    if (const Result<void> done = database_.execute(step.c_str()); !done) {
      abandon();
      return Failure(done.error());
    }
    shrunk_ += kPagesAtOnce;
    return true;
  }
  if (shrunk_ > 0) {
    if (const Result<void> settled = settle(); !settled) {
      return Failure(settled.error());
    }
    if (!more) {
      // The file itself becomes shorter when SQLite's log is moved into it. If that fails, the next
      // commits see to it.
      (void)database_.execute("PRAGMA wal_checkpoint(TRUNCATE)").has_value();
    }
  }
  return more;
}

void Group::rollback() {
  abandon();
  changes_.resize(logged_);
  (void)apply_all().has_value();
}

void Group::close() {
  if (!has_changes() && (logged_ == 0 || settle().has_value())) {
    log_.wipe();
  }
}

std::int64_t Group::size_of(Database& database) {
  return database.number("PRAGMA page_count").value_or(0) *
         database.number("PRAGMA page_size").value_or(0);
}

Result<void> Group::begin() {
  Result<Transaction> begun = Transaction::begin(database_);
  if (!begun) {
    return Failure(begun.error());
  }
  transaction_.emplace(std::move(*begun));
  return {};
}

Result<void> Group::apply_all() {
  if (Result<void> begun = begin(); !begun) {
    return begun;
  }
  for (const Change& change : changes_) {
    // Only a change that came while the disk failed can be wrong here, and its caller has been told
    // nothing good of it: there was no commit since.
    Result<void> applied = writer_.apply(change);
    if (!applied && !blames_change(applied.error())) {
      abandon();
      return applied;
    }
  }
  return {};
}

void Group::abandon() {
  shrunk_ = 0;
  transaction_.reset();
  writer_.rolled_back(committed_);
}

}  // namespace berth
