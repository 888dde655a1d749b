// The script that runs jobs on a cluster's nodes. Pure.
//
// One script serves a batch of jobs: job number i of the batch is line i + 1 of the file `elements`
// in the batch's folder, which all nodes see. The script leaves two files for each job there:
//
//   c/i  the claim: made by the first copy that starts, or by berth if the job is not wanted any
//        more. Only the copy that made it runs the job, so a job that was submitted twice by
//        accident runs once. One line for each start: see ClaimRecord. The job's processes hold a
//        lock on it. A copy that Slurm has requeued waits for that lock, because the copy before
//        may still run on a node that Slurm has lost.
//   x/i  how the job ended: see ExitRecord. Written whole or not at all, and on disk before the
//        script ends.
//
// The script needs sh, sed, date, sync, mv, flock and setsid on the nodes, and nothing of berth's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

/// A job of a batch, as the script must know it.
struct WrappedJob {
  std::uint64_t job = 0;
  std::uint16_t attempt = 0;
  std::string command;
  std::string directory;
  std::string output;
  std::string errors;                  // empty: with the output
  std::int64_t limit = 0;              // seconds from its start until its time limit; 0: none
  bool sample = false;                 // what its GPUs use is its own
  std::vector<std::string> variables;  // "NAME=value", which the other jobs do not have
};

/// The line for the file `elements`, with its end of line.
std::string element_line(const WrappedJob& job);
/// The job and the attempt that an element's line is for.
std::optional<std::pair<std::uint64_t, std::uint16_t>> read_element(std::string_view line);

/// `send` counts how often the batch was handed to sbatch.
std::string wrapper_script(const std::string& folder, int send);

/// With these codes a script ends that has not run its job.
inline constexpr int kNoFolder = 97;     // the folder or its files are not there
inline constexpr int kCannotClaim = 98;  // the folder cannot be written to

/// A line of a claim.
struct ClaimRecord {
  std::string owner;  // "SEND.SLURM_ID"
  int restarts = 0;
  std::string node;
  std::string gpus;          // as CUDA_VISIBLE_DEVICES has them; empty: none
  std::int64_t started = 0;  // nanoseconds since 1970
};
/// The newest start; nothing while the file is not complete.
std::optional<ClaimRecord> read_claim(std::string_view text);
/// The claim on a job that nobody wants any more.
inline constexpr std::string_view kWithdrawn = "withdrawn\n";

struct ExitRecord {
  std::string owner;
  int restarts = 0;
  int code = 0;                  // as the shell has it: 128 and more is a signal
  bool started = true;           // the command was run
  std::int64_t ended = 0;        // nanoseconds since 1970
  std::int64_t peak = 0;         // of its GPUs' memory, in bytes, the highest of all; 0: unknown
  std::optional<double> energy;  // in joules
  std::string problem;           // of one that did not start
};
std::optional<ExitRecord> read_exit(std::string_view text);

/// The text as one word of a shell command on one line; $_b_n is the end of a line there.
std::string quote_for_element(std::string_view text);

}  // namespace berth
