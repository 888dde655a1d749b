// AttemptNews: starts, pauses and ends of attempts until somebody takes them.
#pragma once

#include <vector>

#include "base/fd.h"
#include "exec/shim_runner.h"

namespace berth {

class AttemptNews {
 public:
  /// Not open where this process may have no more descriptors; errno says so.
  AttemptNews();

  bool is_open() const { return static_cast<bool>(event_); }
  /// Readable while something is left to be taken, as of the last update().
  int event_fd() const { return event_.get(); }

  void add(AttemptStart start) { starts_.push_back(std::move(start)); }
  void add(AttemptEnd end) { ends_.push_back(end); }
  /// The job has stopped or goes on, as it was told.
  void add_pause(JobId job) { pauses_.push_back(job); }
  /// To be called when all that is known has been added, unless something is taken then.
  void update();

  std::vector<AttemptStart> take_starts();
  /// An end is held back until the start of its attempt has been taken.
  std::vector<AttemptEnd> take_ends();
  std::vector<JobId> take_pauses();

 private:
  Fd event_;
  bool readable_ = false;
  std::vector<AttemptStart> starts_;
  std::vector<AttemptEnd> ends_;
  std::vector<JobId> pauses_;
};

}  // namespace berth
