// Mps: the supervisor of NVIDIA's MPS control daemons. Owned by one thread, which watches
// event_fd() and calls take_events() when it is readable; nothing here blocks or polls.
//
// Each device and user has a control daemon of its own, which runs as our child while jobs use it:
// started before the first of them, started again when it dies under them, and told to quit when
// the last of them is gone. CUDA runs silently without MPS where it finds no control daemon, so a
// job must not start before its control daemon answers, and once it works on its device we ask
// whether an MPS server is there.
//
// A control daemon that an earlier process of the same owner has left in its place is adopted,
// never doubled. Whoever calls use() holds the lock of the device, so two processes of one owner
// never do so at once.
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
    Ready,    // the control daemon of these jobs answers: those that waited for it may start
    Failed,   // it cannot be started: those that wait for it must not
    Died,     // it died under these jobs, and is started again
    NotUsed,  // this job works on its device, but not through MPS
  };
  Kind kind;
  std::vector<JobId> jobs;
  std::string text;  // for the user; empty: nothing to tell
};

class Mps {
 public:
  struct Owner {
    /// What tells this owner's control daemons from others', also after a restart: "daemon" and its
    /// home.
    std::string identity;
    /// "NAME=value" for their environment: who ends all processes with it ends them, too. Empty:
    /// none.
    std::string mark;
  };

  explicit Mps(Owner owner);
  /// Control daemons that are in use stay, for whoever adopts them.
  ~Mps() = default;
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;

  /// Whether jobs could go through MPS at all.
  Result<void> check_available();

  /// The job is to run on this device, or does already. True: its control daemon answers. False: an
  /// event will tell.
  Result<bool> use(JobId job, const DeviceInfo& device, uid_t user);
  /// The job has ended, or will not start. Nothing happens for one that is not known.
  void release(JobId job);
  /// The job holds memory on its device.
  void at_work(JobId job);

  /// What nobody uses is told to quit. To be called when all that happened at a time has been
  /// told, so that a control daemon stays when its device goes from one job to the next.
  void settle();
  /// What an earlier process of this owner has left for these devices and nobody uses now, too.
  void take_over(std::span<const DeviceInfo> devices);
  /// settle(), and waits until they are gone; but not long for those of another user, who can make
  /// it wait.
  void finish();

  int event_fd() const { return epoll_.get(); }
  std::vector<MpsEvent> take_events();

  /// What a job on this device must find in its environment, whether it is known yet or not.
  EnvironmentChanges environment(const DeviceInfo& device, const Needs& needs) const;

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { Down, Starting, Ready, Quitting };
  enum class Asked { ToMakePlace, WhoIsThere, WhetherReady, WhetherUsed, ToQuit, ToRemovePlace };
  /// How a control daemon ended under its jobs.
  struct Gone {
    bool was_ready = false;
    std::string why;
  };

  struct Control {
    MpsPlace place;
    std::string device;      // its name
    bool telemetry = false;  // somebody sees who works on the device
    State state = State::Down;
    std::optional<MpsProcess> process;
    Clock::time_point since{};  // of the state
    Clock::time_point wake = Clock::time_point::max();
    int failures = 0;  // to start, or soon after it, in a row
    std::set<JobId> jobs;
    std::set<JobId> waiting;  // those of them that have not been told that it is ready
    Asked asked = Asked::ToMakePlace;
    std::optional<MpsProcess> command;
    Clock::time_point command_deadline{};
    bool ask_again = false;        // something has changed since it was asked
    std::optional<JobId> suspect;  // it is to be asked whether this job uses MPS
    bool used = false;             // there has been a server, or nobody can tell any more
    bool told = false;             // that there was none
    bool unknown = false;          // who is in its place, if anybody
    std::optional<Gone> gone;      // likewise, because the one that was is not
    bool quit_first = false;       // somebody may be in its place of whom we know nothing
    bool removed = false;          // its place
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
  /// Whatever is next for it.
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
  Fd folders_;  // inotify: something new in a place where a control daemon starts
  Fd timer_;
  std::map<std::string, Control> controls_;  // by their folders
  std::vector<MpsEvent> events_;
};

}  // namespace berth
