// LockAttempt: one owner asks for one device, by the steps that device_locks.h describes. It ends
// with a lease, or gives everything back. It never waits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "gpu/locks/lock_folder.h"

namespace berth {

class LockAttempt {
 public:
  /// What does not change from one attempt to the next. Borrowed.
  struct Question {
    const Fd& folder;
    const std::string& root;       // its path
    const std::string& prefix;     // of the device's files
    const std::string& signature;  // of the owner, in the names of its files
    /// Whether a file is no obstacle: it is this owner's, or of whoever has leased for it.
    std::function<bool(const std::string& name)> passes;
    /// Called before each step that others can see, if there is one: tests let others in between.
    std::function<void()> between = nullptr;
  };
  explicit LockAttempt(Question question) : question_(std::move(question)) {}
  ~LockAttempt();
  LockAttempt(const LockAttempt&) = delete;
  LockAttempt& operator=(const LockAttempt&) = delete;

  /// First, for an owner that may have been here before: takes up a file of its own that others of
  /// its processes may hold. Returns the names of further ones.
  Result<std::vector<std::string>> join_earlier();
  /// Asks for the device; `line` is for others to read. A failure is one of the file system.
  Result<void> ask(const std::string& line);
  /// Takes the device without asking: its jobs are on it, and its lock was removed.
  Result<void> insist(const std::string& line);

  bool won() const { return won_; }
  /// Where it has not won: who has, and that one's file. Nobody, when others ask at the same time.
  std::optional<LockHolder>& winner() { return winner_; }
  Fd& in_the_way() { return in_the_way_; }

  const std::string& name() const { return name_; }
  Fd& file() { return own_; }

 private:
  void pause() const {
    if (question_.between) {
      question_.between();
    }
  }
  bool lost() const { return winner_.has_value() || rivals_; }
  Result<void> show(const std::string& line);
  Result<void> lock_all();
  void lock_own();
  Result<bool> lock_other(const std::string& name);
  Result<void> look_again();
  Result<void> mark();
  void lose_to(LockClaim& claim, const std::string& name);

  Question question_;
  std::string name_;  // of its own file
  Fd own_;
  bool joined_ = false;  // it is one from before, and locked
  bool own_locked_ = false;
  std::vector<std::string> names_;      // of all files that were shown when they were locked
  std::vector<Fd> locked_;              // those of others
  std::vector<std::string> removable_;  // some of those
  std::optional<LockHolder> winner_;
  Fd in_the_way_;
  bool rivals_ = false;  // somebody else had our file locked, or had removed it
  bool won_ = false;
};

}  // namespace berth
