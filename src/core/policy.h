// Policy: decides which waiting job starts next. A policy sees a read-only View and makes
// proposals; the scheduler checks each one and applies it before it asks again. It has no clock and
// no I/O, and what it knows of a job's length is an estimate, never the truth.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/device_table.h"
#include "core/job.h"
#include "core/queue.h"

namespace berth {

/// What a policy may look at. Valid during one call of propose().
class View {
 public:
  virtual ~View() = default;

  virtual Time now() const = 0;
  virtual const Queue& queue() const = 0;
  virtual const DeviceTable& devices() const = 0;
  virtual const Job& job(JobId id) const = 0;

  /// Devices for the first job of this bucket, or nothing when it does not fit. Constant time while
  /// nothing was freed since the last refusal.
  virtual std::optional<std::vector<DeviceId>> place(ShapeId shape,
                                                     std::span<const DeviceId> avoid) const = 0;

  /// When the device is expected to have room for `needs`; kNever where nobody can tell.
  virtual Time expected_free(DeviceId device, const Needs& needs) const = 0;
};

/// Start this job on these devices.
struct Proposal {
  JobId job;
  std::vector<DeviceId> devices;
};

/// Devices that are kept for a job which waits for more of them.
struct Reservation {
  JobId job;
  Time from = kNever;  // when it is expected to start
  std::vector<DeviceId> devices;
};

class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string_view name() const = 0;

  /// The job's place in the queue; asked when it joins, and kept while it waits there.
  virtual Rank rank(const Job& job) const = 0;

  /// The next start, or nothing. Called again after each start until it returns nothing.
  virtual std::optional<Proposal> propose(const View& view) = 0;

  /// What the policy keeps free at the moment, to explain why others wait.
  virtual std::optional<Reservation> reservation(const View&) const { return std::nullopt; }

  /// When it wants to be asked again although nothing has happened; kNever: not at all.
  virtual Time next_look(const View&) const { return kNever; }
};

}  // namespace berth
