// Run: the foreground driver behind `berth run`. It reads jobs, feeds the scheduler, starts what
// the scheduler says and tells it what ended, until all is done. One thread and one loop; it
// decides nothing itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id_table.h"
#include "core/learner.h"
#include "core/owners.h"
#include "core/scheduler.h"
#include "exec/runner.h"
#include "gpu/devices.h"
#include "gpu/locks/device_locks.h"
#include "gpu/mps/mps.h"
#include "gpu/telemetry/telemetry.h"
#include "memory/memory_watch.h"
#include "memory/peak_file.h"
#include "run/halt.h"
#include "run/input.h"
#include "run/joblog.h"
#include "run/observer.h"
#include "run/outputs.h"
#include "run/poller.h"
#include "run/use_meter.h"

namespace berth {

struct RunOptions {
  std::string policy = "priority";
  Placement placement = Placement::Pack;
  Bytes buffer = DeviceTable::Limits{}.buffer;
  bool enforce_claims = false;
  std::string peaks;  // the file of what jobs have used; empty: nothing is learned
  /// Which jobs use about the same memory, by project and command.
  std::function<Recipe(std::string_view, std::string_view)> recipe = recipe_of;
  JobSpec defaults;  // for what a line does not say
  Duration grace = std::chrono::seconds(10);
  JobOutputs::Options outputs;
  std::optional<std::string> joblog;
  enum class Resume { No, Unfinished, Failed };
  Resume resume = Resume::No;
  Halt halt;
  bool shuffle = false;
  std::uint64_t seed = 0;
  int drain_signal = 0;  // beside INT and TERM; 0: none
  Duration sample_interval = std::chrono::seconds(1);
  /// Called for each launch before it starts, with the devices of the job.
  std::function<void(Launch&, std::span<const DeviceId>)> adapt;
  /// Names of devices that are closed for the time being: nothing starts on them. Asked again
  /// whenever the descriptor is readable, which the function has to see to.
  std::function<std::set<std::string>()> closed_devices;
  int closed_devices_fd = -1;
};

class Run {
 public:
  /// `locks` are for the devices of `devices`; none: nobody else uses them, or nothing is started.
  Run(RunOptions options, Devices& devices, DeviceLocks* locks, Runner& runner,
      RunObserver& observer);

  /// Runs everything. An error means that nothing was started.
  Result<RunSummary> execute(Input input);

  /// Reads everything and submits it, but starts nothing: calls `visit` for each job.
  Result<void> rehearse(Input input,
                        const std::function<void(const JobLine&, const Needs&)>& visit);

 private:
  struct Labels {
    std::string name;
    std::string project;
  };
  /// What the scheduler does not need to know of a job. There may be a million of these.
  struct Record {
    std::string command;
    std::unique_ptr<Labels> labels;  // most jobs have none

    std::string_view name() const { return labels == nullptr ? std::string_view{} : labels->name; }
    std::string_view project() const {
      return labels == nullptr ? std::string_view{} : labels->project;
    }
  };
  /// An attempt that runs.
  struct Active {
    std::uint16_t attempt = 0;
    pid_t pid = 0;
    std::vector<DeviceId> devices;
    Time started;
    double wall_started = 0;
    int start_error = 0;  // errno
    std::string note;     // about its end
  };

  // Jobs coming in (run_intake.cc).
  Result<void> prepare();
  Result<void> read_everything(Input& input);
  Result<void> submit(JobLine line);
  static Record make_record(JobLine line);
  Result<JobSpec> specify(const JobLine& line, bool& never);
  Result<void> add_dependencies(JobSpec& spec, const JobLine& line, bool& never) const;
  bool done_before(JobId id, const JobLine& line, Result<void>& problem) const;

  // The loop (run.cc).
  static Time now();
  void loop();
  bool finished() const;
  void read_input();
  void act(Time at);
  void take_actions(Time at);
  void start(const StartJob& action, Time at);
  Launch make_launch(const StartJob& action, const Record& record) const;
  void take_exits();
  void take_exit(const Exit& exit, Time at);
  void requeue(const JobRequeued& action, Time at);
  void end(const JobEnded& action, Time at);
  void end_without_start(JobId id, const Record& record, const Ended& ended);
  void count(Outcome outcome);
  void release(JobId id, Time at);
  void log_end(JobId id, const Record& record, const Active& active, const Ended& ended,
               std::uint64_t output_bytes);
  void check_halt();
  void take_signals();
  void stop_level(int level);
  JobEvent event(JobId id, const Record& record, const Active& active) const;
  JobEndEvent end_event(JobId id, const Ended& ended, const Active& active, bool retried) const;

  // Devices that are not only ours (run_locks.cc).
  bool take_locks(const StartJob& action, Time at);
  void release_locks();
  void tell_of_waiting(Time at);
  void take_freed();
  void take_closed();

  // Memory (run_memory.cc).
  Recipe recipe(const Record& record) const;
  bool complains_of_memory(const Exit& exit);
  std::optional<MemoryEnd> judge_memory(const Exit& exit);
  void learn_peak(const Exit& exit);
  void pass_on_claims();

  // Jobs through MPS (run_mps.cc).
  Result<void> open_mps();
  bool await_mps(const StartJob& action, Result<void>& problem);
  void take_mps_events();
  void drop_awaiting_mps(Time at);

  // How it goes (run_progress.cc).
  void take_samples();
  Duration estimate_remaining() const;
  RunCounts counts() const;
  RunProgress progress(Time at) const;
  RunSummary summarize(Time at);

  RunOptions options_;
  Devices& devices_;
  DeviceLocks* locks_;
  Runner& runner_;
  RunObserver& observer_;
  Poller poller_;
  JobOutputs outputs_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Telemetry> telemetry_;
  MemoryWatch memory_;
  std::vector<Exit> complaints_;  // ran out of memory: a reading will tell why
  Owners owners_;                 // by project: they are all of one user
  Learner learner_;
  std::unique_ptr<PeakFile> peaks_;
  std::unique_ptr<Mps> mps_;                   // once a job asks for it
  std::map<JobId, StartJob> awaiting_mps_;     // have devices, and start when MPS is there
  std::map<JobId, std::string> mps_problems_;  // why it will not be
  std::optional<Joblog> joblog_;
  std::optional<Input> input_;
  Fd signals_;
  IdTable<Record> records_;
  std::unordered_map<std::uint64_t, Active> active_;
  std::vector<JobId> failed_starts_;  // no process could be made; the scheduler is to be told
  bool refused_ = false;              // a start was; the scheduler is to decide anew
  std::map<DeviceId, DeviceLocks::Obstacle> taken_;  // could not be leased, and not yet told
  std::set<std::pair<DeviceId, bool>> announced_;    // as such; by another berth, or for an error
  std::string stalled_;                              // what was told last
  std::map<std::string, JobId> names_;
  std::vector<Outcome> outcomes_;  // of jobs that are forgotten, by id; for those that follow them
  std::uint64_t last_id_ = 0;
  RunSummary summary_;
  UseMeter meter_;
  Time begun_{};
  Time last_redraw_{};
  int level_ =
      0;  // 0: normal; 1: starts nothing more; 2: has asked jobs to end; 3: has killed them
};

}  // namespace berth
