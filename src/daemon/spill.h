// Spill: moves jobs that would wait long for a device of this machine to a cluster, if they may run
// there (--on auto) and the cluster would start them earlier. A job that has moved stays there,
// unless a user moves it back. Owned by the loop's thread.
#pragma once

#include <string>

#include "daemon/desk.h"
#include "daemon/job_reports.h"
#include "daemon/targets.h"

namespace berth {

class Spill {
 public:
  Spill(Desk& desk, JobReports& reports, Targets& targets)
      : desk_(desk), reports_(reports), targets_(targets) {}

  /// Looks for a job to move, now and then. Call it in each turn.
  void look(Time at);

 private:
  void ask(JobId job, const JobSpec& spec, Time start);
  void move(JobId job, Time there);

  Desk& desk_;
  JobReports& reports_;
  Targets& targets_;
  Time next_{};
  bool asking_ = false;
};

/// When sbatch --test-only says that a job would start; kNever where it does not say.
Time tested_start(std::string_view answer);

}  // namespace berth
