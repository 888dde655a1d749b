#include "gpu/locks/lock_attempt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/secret.h"

namespace berth {
namespace {

// Files that are kept locked for the moment of an attempt: of those who ask at the same time.
constexpr std::size_t kMostRivals = 64;
constexpr std::size_t kMostFiles = 1000;  // for one device

/// Without waiting. 0, or what went wrong.
int try_lock(int file, int how) {
  while (::flock(file, how | LOCK_NB) != 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool may_remove(const struct stat& info) { return info.st_uid == ::geteuid() || ::geteuid() == 0; }

}  // namespace

LockAttempt::~LockAttempt() {
  pause();
  if (!won_ && !joined_ && !name_.empty()) {
    (void)::unlinkat(question_.folder.get(), name_.c_str(), 0);
    pause();
  }
}

Result<std::vector<std::string>> LockAttempt::join_earlier() {
  std::vector<std::string> others;
  Result<std::vector<std::string>> names =
      names_in(question_.folder.get(), question_.prefix + question_.signature);
  if (!names) {
    return names;
  }
  for (std::string& name : *names) {
    Result<std::optional<LockClaim>> claim = open_lock_claim(question_.folder.get(), name);
    if (!claim) {
      return Failure(claim.error());
    }
    if (!*claim || (*claim)->info.st_uid != ::geteuid()) {
      continue;  // another user's, who would like to be taken for us
    }
    const int file = (*claim)->file.get();
    if (try_lock(file, LOCK_EX) == 0) {
      (void)::unlinkat(question_.folder.get(), name.c_str(), 0);  // a dead one's
    } else if (!joined_ && (*claim)->holding() && try_lock(file, LOCK_SH) == 0) {
      joined_ = own_locked_ = true;
      name_ = std::move(name);
      own_ = std::move((*claim)->file);
    } else {
      others.push_back(std::move(name));
    }
  }
  return others;
}

Result<void> LockAttempt::ask(const std::string& line) {
  Result<void> done;
  if (!joined_) {
    done = show(line);
  }
  if (done) {
    done = lock_all();
  }
  if (done && !lost() && !joined_) {
    done = look_again();
  }
  return done && !lost() ? mark() : done;
}

Result<void> LockAttempt::insist(const std::string& line) {
  Result<void> done = show(line);
  if (done) {
    lock_own();
    done = mark();
  }
  return done ? look_again() : done;
}

Result<void> LockAttempt::show(const std::string& line) {
  std::string name = fmt::format("{}{}-{}", question_.prefix, question_.signature, random_name());
  own_ = Fd(::openat(question_.folder.get(), name.c_str(),
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kModeHidden));
  if (!own_) {
    return fail_errno(fmt::format("cannot create a device lock in {}", question_.root), errno);
  }
  name_ = std::move(name);
  // What it says is only shown to others: a full disk does not matter.
  (void)!::write(own_.get(), line.data(), line.size());
  pause();
  if (::fchmod(own_.get(), kModeAsking) != 0) {
    return fail_errno(fmt::format("cannot create a device lock in {}", question_.root), errno);
  }
  return {};
}

Result<void> LockAttempt::lock_all() {
  pause();
  Result<std::vector<std::string>> names = names_in(question_.folder.get(), question_.prefix);
  if (!names) {
    return Failure(names.error());
  }
  if (names->size() > kMostFiles) {
    struct stat info {};
    (void)::fstatat(question_.folder.get(), names->front().c_str(), &info, AT_SYMLINK_NOFOLLOW);
    return fail(ErrorCode::Io,
                fmt::format("there are {} files for this device in {}, the first of them {}'s: "
                            "remove those of berths that are gone",
                            names->size(), question_.root, user_name(info.st_uid)));
  }
  for (std::string& name : *names) {
    pause();
    if (name == name_) {
      lock_own();
    } else if (!question_.passes(name)) {
      const Result<bool> shown = lock_other(name);
      if (!shown) {
        return Failure(shown.error());
      }
      if (!*shown) {
        continue;
      }
    }
    if (lost()) {
      return {};
    }
    names_.push_back(std::move(name));
  }
  rivals_ = !own_locked_;  // one of them has removed our file
  return {};
}

void LockAttempt::lock_own() {
  if (own_locked_) {
    return;
  }
  struct stat info {};
  // Somebody who had it locked may have taken it for a dead one's and removed it.
  own_locked_ =
      try_lock(own_.get(), LOCK_SH) == 0 && ::fstat(own_.get(), &info) == 0 && info.st_nlink > 0;
  rivals_ = !own_locked_;
}

/// False when the file is gone, or not shown yet: look_again() looks at it once more.
Result<bool> LockAttempt::lock_other(const std::string& name) {
  Result<std::optional<LockClaim>> opened = open_lock_claim(question_.folder.get(), name);
  if (!opened) {
    return Failure(opened.error());
  }
  if (!*opened) {
    return false;
  }
  LockClaim& claim = **opened;
  pause();
  const int error = try_lock(claim.file.get(), LOCK_EX);
  if (error == EWOULDBLOCK) {
    lose_to(claim, name);
    return true;
  }
  // Looked at anew, now that nobody can lock it: its owner may have marked it, and died.
  if (error != 0 || ::fstat(claim.file.get(), &claim.info) != 0) {
    return fail_errno(fmt::format("cannot lock files in {}", question_.root),
                      error != 0 ? error : errno);
  }
  const bool full = locked_.size() >= kMostRivals;
  if (!claim.holding() && full) {
    return fail(ErrorCode::Io,
                fmt::format("more than {} files in {} ask for this device; one is {}'s: {}",
                            kMostRivals, question_.root, user_name(claim.info.st_uid), name));
  }
  const bool removable = may_remove(claim.info);
  if (!full && (removable || !claim.holding())) {
    locked_.push_back(std::move(claim.file));
  }
  if (!full && removable) {
    removable_.push_back(name);
  }
  return true;
}

/// Who was not there before may have had our file locked, and may hold the device by now.
Result<void> LockAttempt::look_again() {
  pause();
  const Result<std::vector<std::string>> names = names_in(question_.folder.get(), question_.prefix);
  if (!names) {
    return Failure(names.error());
  }
  for (const std::string& name : *names) {
    if (name == name_ || std::binary_search(names_.begin(), names_.end(), name) ||
        question_.passes(name)) {
      continue;
    }
    Result<std::optional<LockClaim>> claim = open_lock_claim(question_.folder.get(), name);
    if (!claim) {
      return Failure(claim.error());
    }
    pause();
    if (*claim && (*claim)->holding() && try_lock((*claim)->file.get(), LOCK_EX) == EWOULDBLOCK) {
      lose_to(**claim, name);
      return {};
    }
  }
  return {};
}

Result<void> LockAttempt::mark() {
  pause();
  if (!joined_ && ::fchmod(own_.get(), kModeHolding) != 0) {
    return fail_errno(fmt::format("cannot mark a device lock in {}", question_.root), errno);
  }
  won_ = true;
  for (const std::string& name : removable_) {
    pause();
    (void)::unlinkat(question_.folder.get(), name.c_str(), 0);
  }
  return {};
}

void LockAttempt::lose_to(LockClaim& claim, const std::string& name) {
  winner_ = read_holder(claim, fmt::format("{}/{}", question_.root, name));
  in_the_way_ = std::move(claim.file);
}

}  // namespace berth
