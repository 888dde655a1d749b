// Out of memory: did a job die of it, and whose fault was it?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace berth {

/// What the end of a job's output says.
struct MemoryComplaint {
  Bytes tried;  // the size of the failed allocation; 0: not stated
};
/// Finds the out-of-memory messages of CUDA, PyTorch, TensorFlow, JAX and ROCm; nothing when there
/// is none.
std::optional<MemoryComplaint> find_memory_complaint(std::string_view output);

/// How much of the end of an output is worth searching for that.
inline constexpr std::size_t kComplaintTail = 16 * 1024;

enum class MemoryCause : std::uint8_t {
  Own,        // it needed more than it claimed, or than there is
  Neighbour,  // another job of ours held more than it claimed
  Foreign,    // another program took memory that was free when the job started
};

/// One device at the end of a job that ran out of memory.
struct MemoryScene {
  Bytes total;  // 0: not known
  Bytes claim;  // of the job; 0: it had the device to itself
  Bytes peak;   // of the job, as measured, plus the failed allocation
  Bytes foreign;
  struct Neighbour {
    JobId job;
    Bytes claim;
    Bytes used;
  };
  std::vector<Neighbour> neighbours;
};

struct Blame {
  MemoryCause cause = MemoryCause::Own;
  JobId offender{};  // for cause Neighbour
};

Blame blame(const MemoryScene& scene);

/// How a job that ran out of memory ended.
struct MemoryEnd {
  Blame blame;
  Bytes wanted;  // the least that it would have needed; 0: not known
};

/// "it ran out of GPU memory because job 12 used more than it claimed".
std::string describe(const MemoryEnd& end);

}  // namespace berth
