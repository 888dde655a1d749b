// Needs: what a job asks of the devices. Jobs with equal needs are interchangeable to placement, so
// the queue keeps them together.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace berth {

/// Where a claim comes from.
enum class ClaimSource : std::uint8_t {
  Learned,  // from what jobs of its recipe used; none while that is unknown
  Given,    // by the user
  None,     // the job must not share a device
};

struct Claim {
  ClaimSource source = ClaimSource::Learned;
  Bytes memory;  // of a given claim
};
/// A size, `auto` or `off`.
Result<Claim> parse_claim(std::string_view text);

struct Needs {
  std::uint32_t gpus = 1;   // devices at once; 0 is a job for the CPU alone
  std::uint32_t share = 0;  // thousandths of each device's compute; 0: not stated
  Bytes memory;             // claimed on each device; 0: not known
  ClaimSource claim = ClaimSource::Learned;
  std::string model;              // a part of the device's model name, any case
  std::vector<std::string> only;  // device names or UUIDs; empty: any
  std::vector<std::string> exclude;
  std::vector<std::string> prefer;
  /// The user's id + 1 if the job uses MPS, see mps_of(); 0: it does not. A job that uses MPS
  /// shares a device only with jobs of the same user that use it, too.
  std::uint32_t mps = 0;
  std::uint32_t thread_percentage = 0;  // limit on its part of the device's threads, 0: all
  /// While its memory use is unknown, the job first runs this long to find out, and then starts
  /// anew; 0: no such run.
  Duration profile{};
  /// The cluster that the job runs on; empty: on the devices here.
  std::string target;
  std::vector<std::string> target_options;  // for that cluster, as the user wrote them
  /// The cluster to which a job that waits here may be moved; empty: none.
  std::string spill;

  /// Another scheduler than this one finds devices for the job.
  bool away() const { return !target.empty(); }

  void set(const Claim& wanted) {
    claim = wanted.source;
    memory = wanted.memory;
  }

  /// Claims are on GPUs: a job without a GPU has none, whatever was given for all jobs. Call this
  /// when nothing more will be set.
  void settle();

  /// With neither a claim nor a share, it is unknown which jobs fit beside this one.
  bool alone() const { return share == 0 && memory == Bytes{}; }

  /// The job wants devices for itself and does not care which.
  bool any_whole_device() const {
    return alone() && model.empty() && only.empty() && exclude.empty() && prefer.empty();
  }

  friend auto operator<=>(const Needs&, const Needs&) = default;
};

inline constexpr std::uint32_t kWholeShare = 1000;
inline constexpr std::uint32_t kMostGpus = 1'000'000;  // of one job

constexpr std::uint32_t mps_of(std::uint32_t user) { return user + 1; }

/// `auto`, `given` or `off`.
std::string_view claim_source_name(ClaimSource source);

/// "2 GPUs with 8.0 GiB each".
std::string describe(const Needs& needs);

}  // namespace berth
