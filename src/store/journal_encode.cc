// Entries of the journal as bytes.
#include <cmath>

#include "store/journal.h"
#include "store/journal_kinds.h"
#include "store/spec_coding.h"

namespace berth {
namespace {

std::int64_t milliwatts(double watts) { return std::llround(watts * 1000); }

std::int64_t nanoseconds(Time time) { return time.time_since_epoch().count(); }

/// a - b, for numbers of any size.
std::int64_t less(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

struct Encode {
  Encoder& out;

  Encoder& kind(InputKind kind) const { return out.number(static_cast<std::uint64_t>(kind)); }

  void operator()(const Submit& input) const {
    kind(InputKind::Submitted).number(input.id.value).number(input.count);
    encode_spec(out, input.spec);
  }
  void operator()(const Cancel& input) const { kind(InputKind::Cancel).number(input.job.value); }
  void operator()(const Hold& input) const { kind(InputKind::Hold).number(input.job.value); }
  void operator()(const Release& input) const { kind(InputKind::Release).number(input.job.value); }
  void operator()(const Pause&) const { kind(InputKind::Pause); }
  void operator()(const Resume&) const { kind(InputKind::Resume); }
  void operator()(const JobStarted& input) const {
    kind(InputKind::JobStarted).number(input.job.value);
  }
  void operator()(const JobExited& input) const {
    kind(InputKind::JobExited)
        .number(input.job.value)
        .integer(input.exit_code)
        .integer(input.signal)
        .number(input.started ? 1 : 0);
    if (input.memory) {
      out.number(static_cast<std::uint64_t>(input.memory->blame.cause))
          .number(input.memory->blame.offender.value)
          .integer(input.memory->wanted.count);
    }
  }
  void operator()(const Reclaim& input) const {
    kind(InputKind::Reclaim).number(input.job.value).integer(input.memory.count);
  }
  void operator()(const Reestimate& input) const {
    kind(InputKind::Reestimate).number(input.job.value).integer(input.expected.count());
  }
  void operator()(const JobUse& input) const {
    kind(InputKind::JobUse)
        .number(input.job.value)
        .number(input.device.value)
        .integer(input.memory.count);
  }
  void operator()(const DeviceChanged& input) const {
    kind(InputKind::DeviceChanged)
        .number(input.device.value)
        .number(static_cast<std::uint64_t>(input.health));
  }
  void operator()(const ForeignUse& input) const {
    kind(InputKind::ForeignUse).number(input.device.value).integer(input.memory.count);
  }
  void operator()(const DeviceAdded& input) const {
    kind(InputKind::DeviceAdded);
    device(input.device);
  }
  void device(const DeviceSpec& device) const {
    out.text(device.name)
        .text(device.uuid)
        .text(device.model)
        .integer(device.memory.count)
        .number(device.locality.node)
        .number(device.locality.numa)
        .number(device.locality.island)
        .integer(milliwatts(device.power.idle))
        .integer(milliwatts(device.power.busy));
  }
  void operator()(const Stepped&) const { kind(InputKind::Stepped); }
  void operator()(const JobLost& input) const { kind(InputKind::JobLost).number(input.job.value); }
  void operator()(const Restarted& input) const {
    kind(InputKind::Restarted);
    begun(input);
  }
  void begun(const Restarted& input) const {
    const Scheduler::Config& config = input.config;
    out.text(input.policy)
        .number(static_cast<std::uint64_t>(config.placement))
        .integer(config.limits.buffer.count)
        .number(config.limits.cpu_slots)
        .integer(config.grace.count())
        .number(config.enforce_claims ? 1 : 0);
  }
  void operator()(const PolicyChanged& input) const {
    kind(InputKind::PolicyChanged)
        .text(input.policy)
        .number(static_cast<std::uint64_t>(input.placement));
  }
  void operator()(const Restored& input) const {
    const Restore& job = input.first;
    const std::optional<Running>& running = job.running;
    const bool ranked = job.standing && job.standing->rank;
    Encoder values;
    std::uint64_t fields = 0;
    const auto has = [&](std::uint64_t field, bool there) {
      fields |= there ? field : 0;
      return there;
    };
    if (has(restored_field::kAttempt, job.attempt != 0)) {
      values.number(job.attempt);
    }
    if (has(restored_field::kMemoryRetries, job.memory_retries != 0)) {
      values.number(job.memory_retries);
    }
    has(restored_field::kRunning, running.has_value());
    has(restored_field::kStarting, job.starting);
    has(restored_field::kStanding, job.standing.has_value());
    has(restored_field::kRanked, ranked);
    kind(InputKind::Restored).number(job.id.value).number(fields);
    encode_spec(out, job.spec);
    out.raw(values.bytes());
    if (running) {
      out.number(static_cast<std::uint64_t>(running->stopping))
          .integer(nanoseconds(running->since));
      devices(running->devices);
    }
    if (running && job.standing) {
      out.integer(nanoseconds(job.standing->timer)).number(job.standing->used.size());
      for (const Bytes used : job.standing->used) {
        out.integer(used.count);
      }
    }
    runs(input, ranked);
  }
  /// Each run of jobs by what it differs in from the one before.
  void runs(const Restored& input, bool ranked) const {
    std::int64_t submitted = 0;
    std::int64_t rank = 0;
    const auto run = [&](std::uint32_t count, Time when, std::optional<Rank> place) {
      out.number(count).integer(less(nanoseconds(when), submitted));
      submitted = nanoseconds(when);
      if (ranked) {
        out.integer(less(place.value_or(0), rank));
        rank = place.value_or(0);
      }
    };
    out.number(input.more.size());
    run(input.count, input.first.submitted, ranked ? input.first.standing->rank : std::nullopt);
    for (const Restored::More& more : input.more) {
      run(more.count, more.submitted, more.rank);
    }
  }
  void operator()(const Edit& input) const {
    kind(InputKind::Edited).number(input.job.value);
    encode_spec(out, input.spec);
  }
  void operator()(const CheckpointBegun&) const { kind(InputKind::CheckpointBegun); }
  void operator()(const JobsGone& input) const {
    kind(InputKind::JobsGone).number(input.jobs.size());
    for (const JobId job : input.jobs) {
      out.number(job.value);
    }
  }
  void operator()(const CheckpointDone& input) const {
    kind(InputKind::CheckpointDone);
    begun(input.scheduler);
    out.number(input.devices.size());
    for (const DeviceSlot& slot : input.devices) {
      device(slot.spec);
      out.number(static_cast<std::uint64_t>(slot.health))
          .integer(slot.foreign.count)
          .number(slot.taken ? 1 : 0);
    }
    out.number(input.books.paused ? 1 : 0)
        .number(input.books.settled)
        .number(input.books.policy.size());
    for (const std::int64_t number : input.books.policy) {
      out.integer(number);
    }
  }

  void operator()(const DeviceTaken& input) const {
    kind(InputKind::DeviceTaken).number(input.device.value).number(input.taken ? 1 : 0);
  }
  void operator()(const StartRefused& input) const {
    kind(InputKind::StartRefused).number(input.job.value);
    devices(input.taken);
  }

  void devices(const std::vector<DeviceId>& list) const {
    out.number(list.size());
    for (const DeviceId device : list) {
      out.number(device.value);
    }
  }
};

}  // namespace

std::string encode_input(const JournalInput& input) {
  Encoder out;
  std::visit(Encode{out}, input);
  return out.take();
}

}  // namespace berth
