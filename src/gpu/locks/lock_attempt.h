// LockAttempt: one owner's attempt to lease one device, by the steps that device_locks.h describes.
// It ends with a lease or gives everything back. It never waits.
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
  /// The part that does not change from one attempt to the next. Borrowed.
  struct Question {
    const Fd& folder;
    const std::string& root;       // its path
    const std::string& prefix;     // of the device's files
    const std::string& signature;  // of the owner, in the names of its files
    /// Whether a file is no obstacle: it belongs to this owner, or to the owner that has leased for
    /// it.
    std::function<bool(const std::string& name)> passes;
    /// If set, called before each step that others can see. Tests use it to let others act in
    /// between.
    std::function<void()> between = nullptr;
  };
  explicit LockAttempt(Question question) : question_(std::move(question)) {}
  ~LockAttempt();
  LockAttempt(const LockAttempt&) = delete;
  LockAttempt& operator=(const LockAttempt&) = delete;

  /// Call it first, for an owner that may have been here before. Takes up a file of its own that
  /// its other processes may still hold. Returns the names of further such files.
  Result<std::vector<std::string>> join_earlier();
  /// Asks for the device. `line` is for others to read. A failure is one of the file system.
  Result<void> ask(const std::string& line);
  /// Takes the device without asking, because the owner's jobs are on it and its lock was removed.
  Result<void> insist(const std::string& line);

  bool won() const { return won_; }
  /// If the attempt has not won: the winner, and the winner's file. No winner when others ask at
  /// the same time.
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
  bool joined_ = false;  // own_ is an earlier file, and locked
  bool own_locked_ = false;
  std::vector<std::string> names_;      // of all files that were shown when locked
  std::vector<Fd> locked_;              // files of others
  std::vector<std::string> removable_;  // names of those that may be removed
  std::optional<LockHolder> winner_;
  Fd in_the_way_;
  bool rivals_ = false;  // another process had locked or removed our file
  bool won_ = false;
};

}  // namespace berth
