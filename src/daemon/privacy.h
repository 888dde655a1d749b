// Privacy: what users of a daemon for everyone see of each other's jobs. Without `--private`, they
// see everything but environments and output. With it, they see number, state, user, devices, times
// and needs. The daemon's owner and root see everything. Pure; every answer about jobs goes through
// this class.
#pragma once

#include <sys/types.h>

#include "api/messages.h"
#include "store/query.h"

namespace berth {

class Privacy {
 public:
  Privacy() = default;
  Privacy(bool on, uid_t owner) : on_(on), owner_(owner) {}

  bool sees_all(uid_t viewer) const { return !on_ || viewer == 0 || viewer == owner_; }
  /// Whether `viewer` sees everything of the jobs of `user`.
  bool sees(uid_t viewer, uid_t user) const { return sees_all(viewer) || viewer == user; }

  /// The report as `viewer` may see it.
  JobReport shown(JobReport report, uid_t viewer) const;
  /// The part of a report that other users see.
  static JobReport hidden(const JobReport& report);

  /// The jobs that `viewer` may choose by this filter. A filter on hidden fields chooses only the
  /// viewer's own jobs, because the matches would reveal those fields.
  JobFilter narrowed(JobFilter filter, uid_t viewer) const;
  /// The same for a choice by fields that the filter does not name, such as a search.
  JobFilter own_only(JobFilter filter, uid_t viewer) const;

 private:
  bool on_ = false;
  uid_t owner_ = 0;
};

}  // namespace berth
