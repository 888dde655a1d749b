// The input journal: everything the scheduler was told, in order, so that its decisions can be
// replayed. The format is in docs/formats.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/scheduler.h"

namespace berth {

/// A Submit, by reference: what was asked is in the records of the jobs first … first + count - 1.
struct Submitted {
  JobId first;
  std::uint32_t count = 1;
};
/// A device joined the scheduler's table, as the next number.
struct DeviceAdded {
  DeviceSpec device;
};
/// step() was called: timers and the policy look at the clock only then.
struct Stepped {};

using Input = std::variant<Submitted, Cancel, Hold, Release, Pause, Resume, JobStarted, JobExited,
                           DeviceChanged, ForeignUse, DeviceAdded, Stepped>;

struct JournalEntry {
  std::uint64_t number = 0;  // from 1, without gaps
  Time time;
  Input input;
};

std::string encode_input(const Input& input);
/// Nothing when the bytes make no sense.
std::optional<Input> decode_input(std::string_view bytes);

}  // namespace berth
