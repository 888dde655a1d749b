// Commands on existing jobs: kill, signal, hold, release, pause, resume, rerun and edit. A command
// on many jobs is carried out a few jobs at a time, so that other requests are served meanwhile.
#pragma once

#include <string>

#include "api/messages/edit.h"
#include "daemon/desk.h"
#include "daemon/job_pauses.h"
#include "daemon/routes.h"
#include "exec/shim_runner.h"

namespace berth {

class JobCommands {
 public:
  JobCommands(Desk& desk, ShimRunner& runner, JobPauses& pauses)
      : desk_(desk), runner_(runner), pauses_(pauses) {}

  void handle(RoutedRequest asked);

 private:
  struct Batch;  // one command, on the jobs that it chooses

  bool continue_batch(Batch& batch);
  void finish_batch(Batch& batch);
  Result<void> act(const Batch& batch, const JobRecord& job);
  void take_back(const JobRecord& job);
  Result<void> send(const Batch& batch, const JobRecord& job);
  Result<void> rerun(const JobRecord& job, const std::optional<JobEdit>& changes, uid_t editor);
  Result<JobDescription> edited(const JobRecord& job, const JobEdit& changes, uid_t editor) const;
  Result<void> edit(const JobRecord& job, const JobEdit& changes, uid_t editor);

  Desk& desk_;
  ShimRunner& runner_;
  JobPauses& pauses_;
};

}  // namespace berth
