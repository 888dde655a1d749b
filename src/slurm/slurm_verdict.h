// What became of a job that left no record of its end: killed with its script, lost with its node,
// cancelled before it started, or forgotten by Slurm. Pure.
#pragma once

#include <string>

#include "slurm/slurm_batch.h"
#include "slurm/squeue_table.h"

namespace berth {

struct SlurmVerdict {
  enum class Kind {
    Later,           // it cannot be told yet
    InQueue,         // Slurm has it after all
    SendAgain,       // no copy of it is left, and none has started
    Over,            // see `end`
    OverIfFree,      // likewise, once no process holds the lock on its claim
    OverIfUnclaimed  // likewise, once berth has claimed it: it must not start later
  } kind = Kind::Later;
  AttemptEnd end = {};
};

/// `row`: what Slurm knows of the element; nullptr: nothing. `folder`: that the nodes share.
SlurmVerdict judge(const SlurmBatch& batch, std::uint32_t index, const SqueueRow* row,
                   SlurmTime now, const std::string& folder);

}  // namespace berth
