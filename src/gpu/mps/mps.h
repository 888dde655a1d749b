// Mps: the supervisor of NVIDIA's MPS control daemons. Owned by one thread, which watches
// event_fd() and calls take_events() when it is readable. Apart from finish(), nothing here blocks
// or polls.
//
// Each pair of device and user has its own control daemon, which runs as our child while jobs use
// it. Mps starts it before the first job, starts it again when it dies while jobs use it, and tells
// it to quit when the last job is gone. CUDA silently runs without MPS when it finds no control
// daemon. A job therefore must not start before its control daemon answers. Once the job works on
// its device, Mps asks whether an MPS server is there.
//
// A control daemon that an earlier process of the same owner has left in its place is adopted,
// never started a second time. The caller of use() holds the lock of the device, so two processes
// of one owner never call use() for it at once.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/user_lookup.h"
#include "core/needs.h"
#include "gpu/devices.h"
#include "gpu/job_environment.h"
#include "gpu/mps/mps_process.h"

namespace berth {

struct MpsEvent {
  enum class Kind {
    Ready,    // the control daemon of these jobs answers: the waiting ones may start
    Failed,   // the control daemon cannot be started: the waiting jobs must not start
    Died,     // the control daemon died while these jobs used it, and is started again
    NotUsed,  // this job works on its device, but not through MPS
  };
  Kind kind;
  std::vector<JobId> jobs;
  std::string text;  // for the user; empty: nothing to tell
};

class Mps {
 public:
  struct Owner {
    /// Distinguishes this owner's control daemons from those of others, also after a restart:
    /// "daemon" and its home.
    std::string identity;
    /// "NAME=value" for the environment of the control daemons. Ending all processes with this mark
    /// ends them, too. Empty: none.
    std::string mark;
  };

  explicit Mps(Owner owner);
  /// Control daemons that are in use keep running, for a later process to adopt.
  ~Mps() = default;
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;

  /// Whether jobs could use MPS at all.
  Result<void> check_available();

  /// Call it when the job is to run on this device, or already runs on it. True when its control
  /// daemon answers. False when an event will report that later.
  Result<bool> use(JobId job, const DeviceInfo& device, uid_t user);
  /// Call it when the job has ended or will not start. Does nothing for an unknown job.
  void release(JobId job);
  /// Call it when the job holds memory on its device.
  void at_work(JobId job);

  /// Tells unused control daemons to quit. Call it after everything that happened at one time has
  /// been reported here, so that a control daemon stays when its device goes from one job to the
  /// next.
  void settle();
  /// settle(), which then also covers control daemons that an earlier process of this owner has
  /// left for these devices and no job uses now.
  void take_over(std::span<const DeviceInfo> devices);
  /// settle(), then waits until the unused control daemons are gone. The wait is short for those of
  /// another user, because that user can delay them.
  void finish();

  int event_fd() const { return epoll_.get(); }
  std::vector<MpsEvent> take_events();

  /// The environment changes that a job on this device needs, whether or not the job is known here
  /// yet.
  EnvironmentChanges environment(const DeviceInfo& device, const Needs& needs) const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { Down, Starting, Ready, Quitting };
  enum class Asked { ToMakePlace, WhoIsThere, WhetherReady, WhetherUsed, ToQuit, ToRemovePlace };
  /// How a control daemon ended while jobs used it.
  struct Gone {
    bool was_ready = false;
    std::string why;
  };

  struct Control {
    MpsPlace place;
    std::string device;      // its name
    bool telemetry = false;  // telemetry shows which jobs work on the device
    State state = State::Down;
    std::optional<MpsProcess> process;
    Clock::time_point since{};  // when the state began
    Clock::time_point wake = Clock::time_point::max();
    int failures = 0;  // in a row, to start or soon after the start
    std::set<JobId> jobs;
    std::set<JobId> waiting;  // jobs not yet told that it is ready
    Asked asked = Asked::ToMakePlace;
    std::optional<MpsProcess> command;
    Clock::time_point command_deadline{};
    bool ask_again = false;        // something has changed since the last question
    std::optional<JobId> suspect;  // the next question: does this job use MPS?
    bool used = false;             // there has been a server, or this can no longer be known
    bool told = false;             // the missing server has been reported
    bool unknown = false;          // which control daemon is in its place, if any, is unknown
    std::optional<Gone> gone;      // how the last one ended, until `unknown` is settled
    bool quit_first = false;       // an unidentified control daemon may be in its place
    bool removed = false;          // its place has been removed
  };

  MpsPlace place_for(const DeviceInfo& device, uid_t user) const;
  Control* control_of(JobId job);
  void enter(Control& control, State state);
  void watch(int fd) const;
  void start_in_place(Control& control);
  Result<MpsProcess> command_for(const Control& control, Asked what) const;
  void adopt(Control& control, MpsProcess process);
  void ask(Control& control, Asked what);
  void tell_failure(Control& control, const std::string& why);
  void suspect(Control& control, JobId job);
  /// Takes the next step for this control daemon.
  void advance(Control& control);
  void advance_down(Control& control);
  bool know_user(Control& control);
  void process_gone(Control& control);
  void settle_gone(Control& control, const Gone& gone);
  void command_done(Control& control);
  void on_time(Control& control, Clock::time_point now);
  void look();
  void set_timer();

  Owner owner_;
  std::string program_;  // empty: not found yet
  UserLookup users_;
  Fd epoll_;
  Fd folders_;  // inotify: new files in places where control daemons start
  Fd timer_;
  std::map<std::string, Control> controls_;  // by their folders
  std::vector<MpsEvent> events_;
};

}  // namespace berth
