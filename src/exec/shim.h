// The shim: the parent of one job, forked from the launcher without an exec. It makes the attempt's
// file, starts the job, waits for it, ends the processes that the job left, records how the job
// ended, and exits. It depends on no other process: daemon and launcher may come and go.
//
// Requests to the shim are signals. The value of shim_signal() is the number of another signal,
// which the shim passes on to the whole tree. The shim passes TERM and INT from any sender on as
// TERM, so that a machine that shuts down ends jobs in order.
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
/// Asks the shim behind this descriptor to pass `signal` on to its tree.
void ask_shim(int shim, int signal);

class Shim {
 public:
  /// Called in the launcher. `bytes` is one whole request and `stack` is used in the shim only;
  /// both are borrowed.
  Shim(char* bytes, const SpawnStack& stack, const std::string& boot_id, const LoginLimits& limits);
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;

  std::uint64_t serial() const { return request_.serial; }

  /// Runs the forked child to its end, with every signal blocked. The child was forked at
  /// `first_tick` or later.
  [[noreturn]] void run(std::uint64_t first_tick) noexcept;

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
  void pass_on(int signal);
  void end_leftovers();
  void write_end();
  bool try_write_end(const EndLine& line);

  ShimRequest request_;
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
  bool paused_ = false;
  EndRecord end_;
};

}  // namespace berth
