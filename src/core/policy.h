// Policy: decides which waiting job starts next. A policy sees a read-only View and makes
// proposals; the scheduler checks each proposal and applies it before it asks again. A policy has
// no clock and no I/O, and it knows a job's length only as an estimate, never as the truth.
//
// A policy may keep its own books (how much each owner has used, what runs until when). The
// scheduler tells it about every job that joins or leaves the queue, and about every job that gets
// or gives back devices, in the order in which this happens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_table.h"
#include "core/job.h"
#include "core/queue.h"

namespace berth {

/// How many kinds of job (buckets of the queue) a policy tries in one decision. Jobs of further
/// kinds wait until some in front have gone. This keeps a decision short even when no two jobs have
/// the same needs.
inline constexpr std::size_t kMostKinds = 4096;

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

  /// Whether place() would find devices without any to avoid, at less cost.
  virtual bool has_room(ShapeId shape) const = 0;

  /// When the device is expected to have room for `needs`; kNever when unknown.
  virtual Time expected_free(DeviceId device, const Needs& needs) const = 0;
};

/// A policy's notes, as numbers whose order and meaning are its own business.
using PolicyBooks = std::vector<std::int64_t>;

/// Start this job on these devices.
struct Proposal {
  JobId job;
  std::vector<DeviceId> devices;
};

/// Devices that are kept for a job that waits for more of them.
struct Reservation {
  JobId job;
  Time from = kNever;  // when it is expected to start
  std::vector<DeviceId> devices;
};

/// What the policy's order promises a waiting job.
struct Promise {
  /// Of the jobs of its owner and priority, only those submitted until then can come before it.
  Time passed_until = kNever;
  Duration window = kForever;  // how long that is after its own submission
  Duration length = kForever;  // of the job, from which it follows; kForever: nobody knows it
  Time start = kNever;         // when the job starts at the latest, unless running jobs overstay
};

class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string_view name() const = 0;

  /// Whether the policy takes running jobs off their devices. A driver that cannot keep the work of
  /// such a job must refuse the policy.
  virtual bool preempts() const { return false; }

  /// Whether the policy chooses between owners: each owner's jobs then have their own buckets in
  /// the queue.
  virtual bool by_owner() const { return false; }

  /// The job's place in the queue. Asked for when the job joins, and kept while it waits there.
  virtual Rank rank(const Job& job, const Needs& needs) = 0;

  /// Whether rank() depends on more than the job itself, so that asking again could give another
  /// rank.
  virtual bool ranks_by_history() const { return false; }

  // For a checkpoint (core/checkpoint.h), another policy of this kind takes over. It learns the
  // running and the waiting jobs, and then takes the books.

  /// The policy's notes beyond those jobs: how much each owner has used, what was drawn. Plans that
  /// can be made anew are given up, so that both policies make them anew.
  virtual PolicyBooks close_books() { return {}; }
  /// False when the books make no sense; the policy must not be used then.
  virtual bool take_books(const PolicyBooks& books) { return books.empty(); }

  virtual void joined(const Job&, const Needs&) {}
  virtual void left(const Job&, const Needs&) {}
  virtual void started(const Job&, const Needs&, Time /*now*/) {}
  virtual void stopped(const Job&, const Needs&, Time /*now*/) {}

  /// Running jobs to put back into the queue, with their work kept. Called once before the starts;
  /// their devices are free only when the driver says so.
  virtual std::vector<JobId> preempt(const View&) { return {}; }

  /// The next start, or nothing. Called again after each start until it returns nothing.
  virtual std::optional<Proposal> propose(const View& view) = 0;

  /// The devices that the policy keeps free at the moment, to explain why other jobs wait.
  virtual std::optional<Reservation> reservation(const View&) const { return std::nullopt; }

  /// Nothing: the policy promises nothing.
  virtual std::optional<Promise> promise(const Job&) const { return std::nullopt; }

  /// Why the policy would not start a job on these devices although they have room; empty: no
  /// reason.
  virtual std::string objection(const View&, std::span<const DeviceId>) const { return ""; }

  /// Why the policy would never start such a job, whatever else runs; nothing: it would.
  virtual std::optional<std::string> impossible(const DeviceTable&, const Needs&) const {
    return std::nullopt;
  }

  /// When the policy wants to be asked again even if nothing happens; kNever: not at all.
  virtual Time next_look(const View&) const { return kNever; }
};

}  // namespace berth
