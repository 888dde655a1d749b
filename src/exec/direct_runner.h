// DirectRunner: runs jobs as children of this process. A process may have one, on its main thread,
// because it reaps every child, including those adopted from dead jobs, and makes this process a
// child subreaper.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "exec/cgroup.h"
#include "exec/job_processes.h"
#include "exec/orphan_guard.h"
#include "exec/runner.h"
#include "exec/spawn.h"

namespace berth {

/// What a child that shares our memory does before exec.
struct DirectSetup {
  const int* first_lock = nullptr;
  std::size_t locks = 0;
  pid_t parents_group = 0;  // set: the child leaves it for a session of its own
};

class DirectRunner final : public Runner {
 public:
  struct Options {
    bool use_cgroups = true;
  };
  static Result<std::unique_ptr<DirectRunner>> make(Options options);
  static Result<std::unique_ptr<DirectRunner>> make() { return make(Options()); }
  ~DirectRunner() override;

  Result<pid_t> start(Launch launch) override;
  void stop(JobId job, StopSignal signal) override;
  void pause(JobId job, bool stopped) override;
  std::string cgroup_of(JobId job) const override;
  int event_fd() const override { return child_signal_.get(); }
  std::vector<Exit> take_exits() override;

  const std::string& token() const override { return token_; }
  bool uses_cgroups() const { return cgroups_ != nullptr; }

 private:
  /// A running job and the memory that its child may still read before exec.
  struct Process {
    explicit Process(Launch what) : launch(std::move(what)) {}
    Launch launch;
    pid_t pid = 0;
    std::vector<std::string> variables;
    SpawnPlan plan;
    DirectSetup setup;
    std::unique_ptr<SpawnStack> stack;
    std::unique_ptr<Cgroup> cgroup;
  };

  DirectRunner() = default;
  void prepare(Process& process);
  std::vector<std::string> marks(JobId job) const;
  Exit finish(std::unique_ptr<Process> process, int code, int signal);
  void kill_leftovers(const Process& process);
  /// Children that came to us when their parents died. Processes whose empty BERTH_JOB_ID marks
  /// them as belonging to no job are left out: they are the driver's own.
  std::vector<JobProcess> adopted() const;
  /// Signals the adopted children that belong to a job, and all their descendants. The kernel gave
  /// them to us, so they belong to this run; their marks only tell the jobs apart.
  void signal_all(const Process& process, int signal);
  void signal_adopted(const std::vector<std::string>& job_marks, int signal);

  Fd child_signal_;
  Fd null_;
  std::unique_ptr<CgroupFolder> cgroups_;
  std::string token_;
  std::optional<OrphanGuard> guard_;
  std::unordered_map<pid_t, std::unique_ptr<Process>> running_;
  std::unordered_map<std::uint64_t, pid_t> pids_;  // by job
  std::vector<std::unique_ptr<SpawnStack>> spare_stacks_;
  /// Jobs that have ended but whose killed processes are still adopted and dying one by one.
  std::vector<std::vector<std::string>> dying_marks_;
};

}  // namespace berth
