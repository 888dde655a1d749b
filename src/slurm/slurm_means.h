// What the parts of a target work with. Owned by SlurmTarget.
#pragma once

#include <string>

#include "slurm/batch_files.h"
#include "slurm/slurm_alarm.h"
#include "slurm/slurm_caller.h"
#include "slurm/slurm_settings.h"

namespace berth {

/// Tests have others: a Slurm that answers at once, a clock that stands still.
struct SlurmWorld {
  SlurmCaller::Run run = run_slurm_call;
  SlurmAlarm::Now now = std::chrono::steady_clock::now;
  Chores::Where where = Chores::Where::Thread;
};

struct SlurmMeans {
  SlurmMeans(SlurmSettings given, SlurmWorld world)
      : settings(std::move(given)),
        alarm(std::move(world.now)),
        files(world.where),
        slurm(settings, std::move(world.run), world.where) {}

  void log(const std::string& text) const;

  SlurmSettings settings;
  SlurmAlarm alarm;
  BatchFiles files;
  SlurmCaller slurm;
};

}  // namespace berth
