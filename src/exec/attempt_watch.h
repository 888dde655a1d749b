// AttemptWatch: the attempts that have not ended, from the request for each to its end. It goes by
// what the launcher and the shims say, by the process of each attempt, and where those fail by the
// folder; starts, pauses and ends become news.
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
#include "exec/idle_shims.h"
#include "exec/keyed_epoll.h"
#include "exec/live_attempt.h"
#include "exec/shim_runner.h"
#include "exec/shim_wire.h"

namespace berth {

class AttemptWatch {
 public:
  /// Keys in the epoll from here on are those of attempts.
  static constexpr std::uint64_t kFirstKey = 32;

  /// All are borrowed. `cgroups`: none where jobs have no cgroups.
  AttemptWatch(AttemptFolder& folder, CgroupFolder* cgroups, const KeyedEpoll& epoll,
               AttemptNews& news, IdleShims& idle);

  /// One more attempt, of a job that has none. Its request is for the launcher or an idle shim.
  Result<const LiveAttempt*> add(const ShimLaunch& launch);
  /// Has an idle shim run it. `lock` shares the launcher's lock. False: the launcher must.
  bool pass_on(const LiveAttempt& attempt, int lock);
  /// Those that the folder knows of; one that has ended is news.
  std::vector<AttemptStart> adopt();

  const LiveAttempt* find(JobId job) const;
  /// Waits where the attempt has no process yet. Nothing happens for a job that has none.
  void signal(JobId job, int signal);

  /// What the launcher or a shim says. False: the attempt has not begun, because the launcher has
  /// lost its folder or a shim has died idle. It is to be asked for again, of another launcher.
  bool take(ReceivedMessage received);
  /// The descriptor with this key has something to tell. False: as take().
  bool take_event(std::uint64_t key);
  /// No shim goes on: each exits when its job has ended.
  void hang_up();
  /// Another look at those of which nothing could be learned before.
  void settle_unsettled();
  /// The launcher is gone, and the last newborn shim has gone its way. Calls `ask` with the request
  /// of each attempt that never began; where it returns false, the attempt could not be started.
  void ask_again(const std::function<bool(const std::string& request)>& ask);

 private:
  using Attempts = std::map<std::uint64_t, LiveAttempt>;

  // What the key of an attempt stands for.
  static std::uint64_t process_key(std::uint64_t serial) { return 2 * serial; }
  static std::uint64_t wire_key(std::uint64_t serial) { return 2 * serial + 1; }

  /// Watches the wire if there is one, else the process.
  void watch_process(Attempts::iterator attempt, Fd process, Fd wire = Fd());
  void unwatch_process(LiveAttempt& attempt);
  bool process_ended(Attempts::iterator attempt);
  bool take_words(std::uint64_t serial);
  void close_wire(Attempts::iterator attempt);
  /// Goes by what the folder says. False when it knows nothing of the attempt.
  bool settle(Attempts::iterator attempt);
  void tell_start(LiveAttempt& attempt, pid_t pid);
  void end(Attempts::iterator attempt, AttemptEnd::Kind kind, const EndRecord& record);

  AttemptFolder& folder_;
  CgroupFolder* cgroups_;
  const KeyedEpoll& epoll_;
  AttemptNews& news_;
  IdleShims& idle_;
  std::uint64_t next_serial_ = kFirstKey / 2;
  Attempts attempts_;                                         // by their serial numbers
  std::unordered_map<std::uint64_t, std::uint64_t> serials_;  // by job
  /// Those of which nothing could be learned, as when this process was out of descriptors.
  std::vector<std::uint64_t> unsettled_;
};

}  // namespace berth
