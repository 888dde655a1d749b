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
  Bytes tried;  // what it asked for in vain; 0: not said
};
/// CUDA's, PyTorch's, TensorFlow's, JAX's and ROCm's words for it; nothing where none is there.
std::optional<MemoryComplaint> find_memory_complaint(std::string_view output);

/// How much of an output's end is worth reading for that.
inline constexpr std::size_t kComplaintTail = 16 * 1024;

enum class MemoryCause : std::uint8_t {
  Own,        // it needed more than it claimed, or than there is
  Neighbour,  // another job of ours held more than it claimed
  Foreign,    // somebody else took memory that was free when it started
};

/// One device at the end of a job that ran out of memory.
struct MemoryScene {
  Bytes total;  // 0: not known
  Bytes claim;  // of the job; 0: it had the device to itself
  Bytes peak;   // of the job, as measured, with what it tried to get
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
  JobId offender{};  // of cause Neighbour
};

Blame blame(const MemoryScene& scene);

/// How a job ended that ran out of memory.
struct MemoryEnd {
  Blame blame;
  Bytes wanted;  // what it would have needed at least; 0: not known
};

/// "job 12 held more than it claimed".
std::string describe(const MemoryEnd& end);

}  // namespace berth
