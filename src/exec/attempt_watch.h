// AttemptWatch: the attempts that have not ended, from the request for each to its end. It goes by
// what the launcher says, by the process of each attempt, and where those fail by the folder;
// starts and ends become news.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "exec/attempt_folder.h"
#include "exec/attempt_news.h"
#include "exec/cgroup.h"
#include "exec/keyed_epoll.h"
#include "exec/live_attempt.h"
#include "exec/shim_runner.h"
#include "exec/shim_wire.h"

namespace berth {

class AttemptWatch {
 public:
  /// Attempts have serial numbers from here on: they are the keys of their processes in the epoll.
  static constexpr std::uint64_t kFirstSerial = 16;

  /// All are borrowed. `cgroups`: none where jobs have no cgroups.
  AttemptWatch(AttemptFolder& folder, CgroupFolder* cgroups, const KeyedEpoll& epoll,
               AttemptNews& news);

  /// One more attempt, of a job that has none. Its request is for the launcher.
  Result<const LiveAttempt*> add(const ShimLaunch& launch);
  /// Those that the folder knows of; one that has ended is news.
  std::vector<AttemptStart> adopt();

  const LiveAttempt* find(JobId job) const;
  /// Waits where the attempt has no process yet. Nothing happens for a job that has none.
  void signal(JobId job, int signal);

  /// What the launcher or a newborn shim says. False: the launcher has lost its folder, and the
  /// attempt is to be asked for again, of another launcher.
  bool take(ReceivedMessage received);
  /// The process with this key has ended.
  void process_ended(std::uint64_t serial);
  /// Another look at those of which nothing could be learned before.
  void settle_unsettled();
  /// The launcher is gone, and the last newborn shim has gone its way. Calls `ask` with the request
  /// of each attempt that never began; where it returns false, the attempt could not be started.
  void ask_again(const std::function<bool(const std::string& request)>& ask);

 private:
  using Attempts = std::map<std::uint64_t, LiveAttempt>;

  void watch_process(Attempts::iterator attempt, Fd process);
  void unwatch_process(LiveAttempt& attempt);
  /// Goes by what the folder says. False when it knows nothing of the attempt.
  bool settle(Attempts::iterator attempt);
  void tell_start(LiveAttempt& attempt, pid_t pid);
  void end(Attempts::iterator attempt, AttemptEnd::Kind kind, const EndRecord& record);

  AttemptFolder& folder_;
  CgroupFolder* cgroups_;
  const KeyedEpoll& epoll_;
  AttemptNews& news_;
  std::uint64_t next_serial_ = kFirstSerial;
  Attempts attempts_;                                         // by their serial numbers
  std::unordered_map<std::uint64_t, std::uint64_t> serials_;  // by job
  /// Those of which nothing could be learned, as when this process was out of descriptors.
  std::vector<std::uint64_t> unsettled_;
};

}  // namespace berth
