// The shim: the parent of one job, forked from the launcher without an exec. It makes the attempt's
// file, starts the job, waits for it, ends the processes that the job left, and records how the job
// ended. It depends on no other process: daemon and launcher may come and go. A Shim is one
// attempt; its process may go on with another (shim_process.h).
//
// Requests to the shim are signals. The value of shim_signal() is the number of another signal,
// which the shim passes on to the whole tree, and the mark of the attempt that it is meant for,
// because that may be over. The shim passes TERM and INT from any sender on as TERM, so that a
// machine that shuts down ends jobs in order.
//
// A forked process pays for every page that it touches. So the launcher prepares a shim before it
// forks, and the usual way through run() is raw system calls and a handful of pages. Those pages,
// not the fork, are most of what a shim costs. Anything unusual may use the library at will.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "exec/cgroup.h"
#include "exec/shim_child.h"
#include "exec/shim_wire.h"
#include "exec/spawn.h"

namespace berth {

/// A realtime signal, so that requests queue and none is lost.
int shim_signal();
/// Asks the shim behind this descriptor to pass `signal` on to the tree of the attempt with this
/// serial number; 0: of any, for a shim whose requests came from another daemon.
void ask_shim(int shim, int signal, std::uint64_t serial);

/// What a shim shares with the launcher, or with its earlier attempts. Borrowed.
struct ShimTools {
  const SpawnStack& stack;  // used in the shim only
  const std::string& boot_id;
  const LoginLimits& limits;
};

/// Where an attempt is reported, and the lock that is held until it is on record.
struct Nursery {
  int messages = -1;
  int lock = -1;
  int wire = -1;  // of this shim; none: it does not go on
};

class Shim {
 public:
  /// `bytes` is one whole request, and borrowed. For a newborn shim, called in the launcher.
  Shim(char* bytes, const ShimTools& tools);
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;

  std::uint64_t serial() const { return request_.serial; }

  /// Runs the attempt to its end in this process, `self`, with every signal blocked. True when the
  /// daemon was told the end, and nothing is left of the job: this process may go on with another.
  bool run(const ProcessIdentity& self, const Nursery& nursery) noexcept;

 private:
  void look_up_user();
  int lock_devices();
  int create_file();
  long take_spare_file();
  long make_file();
  /// Whether to try the file again, after a pause: only room for it was missing. Ends this process
  /// when the job is no longer wanted.
  bool wait_for_room(int error, long& pause);
  bool start();
  void tell(ShimMessage::Kind kind, pid_t pid, int error, StartStep step = StartStep::None);
  void leave_nursery();
  void wait_for_job();
  void reap();
  int asked_signal(int value) const;
  void pass_on(int signal);
  bool end_leftovers();
  bool write_end();
  bool try_write_end(const EndLine& line);
  void close_files();
  void note_pause(int status);
  bool say(ShimMessage& message);
  bool report();

  ShimRequest request_;
  Nursery nursery_;
  const int request_signal_ = shim_signal();
  const SpawnStack& stack_;
  std::string file_;
  std::string end_file_;
  int record_ = -1;
  int lock_ = -1;
  std::vector<int> device_locks_;  // room for all is made before the fork
  ChildSetup setup_;
  SpawnPlan plan_;
  std::unique_ptr<Cgroup> cgroup_;  // opened when it is needed
  pid_t job_ = 0;                   // 0 before it is started and once it has ended
  bool paused_ = false;             // it was told to stop
  bool tells_pause_ = false;        // the daemon waits to hear that it has stopped, or goes on
  EndRecord end_;
};

}  // namespace berth
