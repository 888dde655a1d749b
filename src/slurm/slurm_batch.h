// A batch: jobs that are handed to sbatch together, and how each of them stands. Plain data: what
// must agree in it is seen to by BatchBooks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/shim_runner.h"
#include "slurm/squeue_table.h"

namespace berth {

using SlurmTime = std::chrono::steady_clock::time_point;

/// One attempt of one job.
struct BatchElement {
  JobId job = {};
  std::uint16_t attempt = 0;
  enum class State : std::uint8_t { Waits, Runs, Over } state = State::Waits;
  bool forgotten = false;
  bool withdrawing = false;
  std::optional<StopSignal> stop = {};
  SlurmTime told_to_stop = {};
  std::optional<SlurmTime> missing = {};    // since when squeue does not know it
  std::optional<AttemptEnd> ended = {};     // by a signal: Slurm may know why
  std::optional<SqueueRow> accounted = {};  // what sacct has said of it while it was missing
  bool judged = false;                      // an answer to what became of it is under way
  std::string id = {};                      // of its job in Slurm, without the index
  std::string reason = {};                  // as squeue has it
  std::string node = {};
  std::string gpus = {};
  std::string note = {};

  bool is_over() const { return state == State::Over; }
  /// Slurm has it after all.
  void found_again() {
    missing.reset();
    accounted.reset();
  }
};

struct SlurmBatch {
  std::string name;
  std::string folder;
  std::vector<std::string> options;
  std::vector<std::string> environment;
  std::vector<BatchElement> elements;
  /// Doubtful: sbatch may have submitted it; squeue will tell.
  enum class State : std::uint8_t {
    Writing,
    Ready,
    Sending,
    Doubtful,
    Sent
  } state = State::Writing;
  int send = 0;
  std::string id;        // that Slurm gave it last
  SlurmTime since = {};  // when it was sent, or when that became doubtful
  SlurmTime retry = {};  // not before
  bool confirmed = false;
  std::string trouble;

  std::size_t open = 0;  // elements that are not over
  std::size_t kept = 0;  // elements that are not forgotten

  /// An element as scancel and squeue name it; empty: it has no number yet.
  std::string call_id(std::uint32_t index) const;
};

/// An element of a batch; none where `batch` is nullptr.
struct BatchPlace {
  SlurmBatch* batch = nullptr;
  std::uint32_t index = 0;

  explicit operator bool() const { return batch != nullptr; }
  BatchElement& element() const { return batch->elements[index]; }
};

}  // namespace berth
