// FairUse: what ordinary users of a daemon for everyone may take of its queue: so many jobs that
// have not ended, so many bytes of them, and no place in front of others by mere wish. The daemon's
// owner and root are bound by none of it. Pure.
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
  /// Whether the user is an ordinary one.
  bool bounds(uid_t user) const { return user != 0 && user != owner_; }

  /// Like nice: anybody may stand back, only the privileged may go first. `before`: what the job
  /// was allowed until now.
  Result<void> check_rank(const JobSpec& wanted, uid_t user, const JobSpec& before = {}) const;
  /// Whether so many jobs more, of so many bytes together, may wait.
  Result<void> check_queue(uid_t user, std::uint64_t jobs, std::uint64_t bytes) const;

  /// Jobs with numbers in a row have come in.
  void joined(JobId first, std::uint64_t count, uid_t user, std::uint64_t bytes_each);
  /// The job has ended; it may never have been counted.
  void left(JobId job);

  Use used(uid_t user) const;
  /// Those who have jobs, in order.
  std::vector<uid_t> users() const;

 private:
  struct Counted {
    uid_t user;
    std::uint64_t bytes;
  };

  Limits limits_;
  uid_t owner_;
  std::unordered_map<std::uint64_t, Counted> jobs_;  // of ordinary users; never walked over
  std::map<uid_t, Use> users_;
};

/// About how many bytes a job takes beside its environment.
std::uint64_t text_bytes(const JobDescription& job);

}  // namespace berth
