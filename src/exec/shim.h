// The shim: the parent of one job, forked from the launcher without an exec. It makes the attempt's
// file, starts the job, waits for it, ends what the job left, writes down how it ended, and is
// gone. It needs nobody: daemon and launcher may come and go.
//
// It is asked by signal: shim_signal() with the number of a signal as its value is passed on to the
// whole tree. TERM and INT from anyone are passed on as TERM, so that a machine that shuts down
// ends jobs in order.
//
// A forked process pays for every page that it touches. So the launcher prepares a shim before it
// forks, and the usual way through run() is raw system calls and a handful of pages; that, not the
// fork, is most of what a shim costs. Anything unusual may use the library at will.
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

/// Realtime, so that requests queue and none is lost.
int shim_signal();
/// The shim behind this descriptor of it passes `signal` on to its tree.
void ask_shim(int shim, int signal);

class Shim {
 public:
  /// In the launcher. `bytes` is one whole request and `stack` is used in the shim only; both are
  /// borrowed.
  Shim(char* bytes, const SpawnStack& stack, const std::string& boot_id, const LoginLimits& limits);
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;

  std::uint64_t serial() const { return request_.serial; }

  /// In the forked child, to its end, with every signal blocked. It was forked at `first_tick` or
  /// later.
  [[noreturn]] void run(std::uint64_t first_tick) noexcept;

 private:
  void look_up_user();
  int lock_devices();
  int create_file();
  long take_spare_file();
  long make_file();
  /// Whether the file is to be tried again, after a pause: nothing else is the matter than room for
  /// it. Ends this process when the job is no longer wanted.
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
