// What the daemon costs on this machine, beside what the machine costs anyway.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

/// Milliseconds.
struct BenchSpread {
  double p50 = 0;
  double p99 = 0;
};
/// Of at least one value.
BenchSpread spread_of(std::vector<double> values);

struct BenchFigures {
  unsigned cores = 1;
  unsigned slots = 1;      // jobs at a time
  double shells = 0;       // a second: `sh -c true`, so many at a time, nothing else
  double jobs = 0;         // a second: the same as jobs of a daemon, queued before
  BenchSpread gap;         // between the end of a job and the start of the next on its device
  double starts = 0;       // a second: a program that does nothing, one after the other
  double submissions = 0;  // a second: `berth submit`, one after the other
  BenchSpread sync;        // writing a little and waiting for the disk

  /// What one takes of the whole machine, in milliseconds.
  double job_cost() const { return 1000 * cores / jobs; }
  double shell_cost() const { return 1000 * cores / shells; }
};

/// In words, for somebody who has not read this header.
std::string describe(const BenchFigures& figures);
std::string to_json(const BenchFigures& figures);

/// Takes about ten seconds, with a daemon and a queue of its own in `folder`, which must be empty.
/// Nothing of it is left running.
Result<BenchFigures> measure(const std::string& folder);

}  // namespace berth
