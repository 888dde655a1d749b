#include "store/group.h"

#include "base/failpoint.h"

namespace berth {
namespace {

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
  changes_.push_back(std::move(change));
  return {};
}

Result<void> Group::commit() {
  if (changes_.empty()) {
    return {};
  }
  Result<void> done = try_commit();
  if (!done) {
    abandon();
    // So that reads go on to show what was accepted. If this fails too, the next commit will see.
    (void)apply_all().has_value();
    return done;
  }
  committed_ = writer_.counters();
  changes_.clear();
  transaction_.reset();
  return {};
}

Result<void> Group::try_commit() {
  if (!transaction_) {
    if (Result<void> applied = apply_all(); !applied) {
      return applied;
    }
  }
  if (Result<void> flushed = writer_.flush(committed_); !flushed) {
    return flushed;
  }
  if (const int error = BERTH_FAILPOINT("store.commit")) {
    return fail_errno("cannot write the queue to disk", error);
  }
  return transaction_->commit();
}

void Group::rollback() {
  abandon();
  changes_.clear();
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
  transaction_.reset();
  writer_.rolled_back(committed_);
}

}  // namespace berth
