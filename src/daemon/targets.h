// Targets: where the daemon's jobs run. This machine's shims are one target; each cluster is
// another. To the rest of the daemon they are one runner. Owned by the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "core/job_spec.h"
#include "daemon/cluster_look.h"
#include "exec/shim_runner.h"
#include "slurm/cluster_config.h"
#include "slurm/slurm_target.h"

namespace berth {

class Targets final : public ShimRunner {
 public:
  struct Options {
    std::string config;  // the file of clusters; need not be there
    std::string folder;  // for the records of clusters that name no folder of their own
    std::function<void(const std::string&)> log;
  };
  Targets(std::unique_ptr<ShimRunner> here, Options options);

  std::vector<AttemptStart> adopt() override;
  bool may_have_run(JobId job, std::uint16_t attempt, bool started) const override;
  Result<void> start(const ShimLaunch& launch) override;
  void stop(JobId job, StopSignal signal) override { runner_of(job).stop(job, signal); }
  bool pause(JobId job, bool stopped) override { return runner_of(job).pause(job, stopped); }
  void send(JobId job, int signal) override { runner_of(job).send(job, signal); }
  int event_fd() const override { return events_.get(); }
  std::vector<AttemptStart> take_starts() override;
  std::vector<AttemptEnd> take_ends() override;
  std::vector<JobId> take_pauses() override { return here_->take_pauses(); }
  void forget(JobId job, std::uint16_t attempt) override;
  bool take_back(JobId job) override;

  /// The clusters that jobs can be sent to, by name, as of the last few seconds.
  const std::vector<std::string>& clusters();
  /// Opens the cluster if it is not open yet. An error says what is missing.
  Result<SlurmTarget*> cluster(const std::string& name);
  /// Whether the cluster could run such a job, as far as that is known.
  Result<void> check(const JobSpec& spec);
  /// The options of sbatch for the job.
  Result<std::vector<std::string>> options_for(const JobSpec& spec);
  /// How an attempt stands that is on a cluster.
  std::optional<SlurmStanding> standing(JobId job) const;
  /// What the devices of a cluster do. Calls `answered` now or later.
  void look(const std::string& name, ClusterLook::Answered answered);

 private:
  ShimRunner& runner_of(JobId job);
  void watch(int fd) const;

  std::unique_ptr<ShimRunner> here_;
  Options options_;
  std::vector<std::string> names_;  // see clusters()
  std::chrono::steady_clock::time_point names_until_{};
  std::map<std::string, ClusterLook> looks_;
  std::map<std::string, std::unique_ptr<SlurmTarget>> open_;
  std::map<JobId, SlurmTarget*> away_;  // attempts that are not here
  Fd events_;
};

}  // namespace berth
