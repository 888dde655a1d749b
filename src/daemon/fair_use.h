// FairUse: limits what ordinary users may take of the queue of a daemon for everyone: the number of
// their jobs that have not ended, and the bytes of these jobs. An ordinary user cannot move ahead
// of others just by asking. The daemon's owner and root are exempt from all of this. Pure.
#pragma once

#include <sys/types.h>

#include <map>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/description.h"

namespace berth {

class FairUse {
 public:
  struct Limits {
    std::uint64_t jobs = 100'000;
    Bytes bytes = Bytes{std::int64_t{256} << 20};
  };
  struct Use {
    std::uint64_t jobs = 0;
    std::uint64_t bytes = 0;
  };

  FairUse() : FairUse(Limits(), 0) {}
  FairUse(Limits limits, uid_t owner) : limits_(limits), owner_(owner) {}

  const Limits& limits() const { return limits_; }
  /// Whether this is an ordinary user.
  bool bounds(uid_t user) const { return user != 0 && user != owner_; }

  /// As with nice, any user may lower a job's rank, but only privileged users may raise it.
  /// `before`: what the job was allowed until now.
  Result<void> check_rank(const JobSpec& wanted, uid_t user, const JobSpec& before = {}) const;
  /// Whether the user may queue `jobs` more jobs, of `bytes` bytes together.
  Result<void> check_queue(uid_t user, std::uint64_t jobs, std::uint64_t bytes) const;

  /// Counts new jobs with consecutive numbers.
  void joined(JobId first, std::uint64_t count, uid_t user, std::uint64_t bytes_each);
  /// The job has ended; it may never have been counted.
  void left(JobId job);

  Use used(uid_t user) const;
  /// The users who have counted jobs, in order.
  std::vector<uid_t> users() const;

 private:
  struct Counted {
    uid_t user;
    std::uint64_t bytes;
  };

  Limits limits_;
  uid_t owner_;
  std::unordered_map<std::uint64_t, Counted> jobs_;  // of ordinary users; never iterated over
  std::map<uid_t, Use> users_;
};

/// About how many bytes a job takes, without its environment.
std::uint64_t text_bytes(const JobDescription& job);

}  // namespace berth
