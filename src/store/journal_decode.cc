// Bytes as entries of the journal. A file may hold anything.
#include "store/journal.h"
#include "store/journal_kinds.h"
#include "store/spec_coding.h"

namespace berth {
namespace {

/// a + b, for numbers of any size.
std::int64_t more(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

JobId job(Decoder& in) { return JobId{in.number()}; }

DeviceId device(Decoder& in) { return DeviceId{in.word()}; }

JobExited exited(Decoder& in) {
  JobExited input{job(in)};
  input.exit_code = static_cast<int>(in.integer());
  input.signal = static_cast<int>(in.integer());
  input.started = in.number_up_to(1) == 1;
  if (!in.at_end()) {
    MemoryEnd end;
    end.blame.cause =
        static_cast<MemoryCause>(in.number_up_to(static_cast<std::uint64_t>(MemoryCause::Foreign)));
    end.blame.offender = job(in);
    end.wanted = Bytes{in.integer()};
    input.memory = end;
  }
  return input;
}

DeviceSpec device_spec(Decoder& in) {
  DeviceSpec device;
  device.name = in.text();
  device.uuid = in.text();
  device.model = in.text();
  device.memory = Bytes{in.integer()};
  device.locality = {in.half_word(), in.half_word(), in.half_word()};
  device.power.idle = static_cast<double>(in.integer()) / 1000;
  device.power.busy = static_cast<double>(in.integer()) / 1000;
  return device;
}

DeviceHealth health(Decoder& in) {
  return static_cast<DeviceHealth>(
      in.number_up_to(static_cast<std::uint64_t>(DeviceHealth::Removed)));
}

Time time(Decoder& in) { return Time(Duration(in.integer())); }

std::vector<DeviceId> devices(Decoder& in) {
  std::vector<DeviceId> list;
  for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
    list.push_back(device(in));
  }
  return list;
}

Placement placement(Decoder& in) {
  return static_cast<Placement>(in.number_up_to(static_cast<std::uint64_t>(Placement::Idle)));
}

Restarted restarted(Decoder& in) {
  Restarted input{std::string(in.text())};
  Scheduler::Config& config = input.config;
  config.placement = placement(in);
  config.limits.buffer = Bytes{in.integer()};
  config.limits.cpu_slots = in.word();
  config.grace = Duration(in.integer());
  config.enforce_claims = in.number_up_to(1) == 1;
  return input;
}

std::optional<Restored> restored(Decoder& in) {
  Restored input;
  Restore& first = input.first;
  first.id = job(in);
  const std::uint64_t fields = in.number_up_to(restored_field::kAll);
  std::optional<JobSpec> asked = decode_spec(in);
  if (!asked) {
    return std::nullopt;
  }
  first.spec = std::move(*asked);
  first.attempt = fields & restored_field::kAttempt ? in.half_word() : std::uint16_t{0};
  first.memory_retries = fields & restored_field::kMemoryRetries
                             ? static_cast<std::uint8_t>(in.number_up_to(255))
                             : std::uint8_t{0};
  first.starting = (fields & restored_field::kStarting) != 0;
  if (fields & restored_field::kStanding) {
    first.standing.emplace();
  }
  if (fields & restored_field::kRunning) {
    Running& running = first.running.emplace();
    running.stopping =
        static_cast<Stopping>(in.number_up_to(static_cast<std::uint64_t>(Stopping::Profile)));
    running.since = time(in);
    running.devices = devices(in);
    if (first.standing) {
      first.standing->timer = time(in);
      for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
        first.standing->used.push_back(Bytes{in.integer()});
      }
    }
  }
  const bool ranked = (fields & restored_field::kRanked) != 0;
  const std::uint64_t runs = in.number();
  std::int64_t submitted = 0;
  std::int64_t rank = 0;
  const auto run = [&]() -> Restored::More {
    const std::uint32_t count = in.word();
    submitted = more(submitted, in.integer());
    rank = ranked ? more(rank, in.integer()) : 0;
    return {count, Time(Duration(submitted)), ranked ? std::optional(rank) : std::nullopt};
  };
  const Restored::More own = run();
  input.count = own.count;
  first.submitted = own.submitted;
  if (first.standing) {
    first.standing->rank = own.rank;
  }
  for (std::uint64_t left = runs; left > 0 && !in.failed(); --left) {
    input.more.push_back(run());
  }
  const bool sound = (!ranked || first.standing) && (first.running || !first.starting);
  return sound ? std::optional(std::move(input)) : std::nullopt;
}

CheckpointDone checkpoint_done(Decoder& in) {
  CheckpointDone done{restarted(in), {}, {}};
  for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
    DeviceSlot& slot = done.devices.emplace_back();
    slot.spec = device_spec(in);
    slot.health = health(in);
    slot.foreign = Bytes{in.integer()};
    slot.taken = in.number_up_to(1) == 1;
  }
  done.books.paused = in.number_up_to(1) == 1;
  done.books.settled = in.number();
  for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
    done.books.policy.push_back(in.integer());
  }
  return done;
}

JobsGone jobs_gone(Decoder& in) {
  JobsGone gone;
  for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
    gone.jobs.push_back(job(in));
  }
  return gone;
}

std::optional<JournalInput> read(Decoder& in) {
  switch (
      static_cast<InputKind>(in.number_up_to(static_cast<std::uint64_t>(InputKind::Reestimate)))) {
    case InputKind::Submitted: {
      Submit input{{}, job(in), in.word(), true};
      std::optional<JobSpec> asked = decode_spec(in);
      if (!asked) {
        return std::nullopt;
      }
      input.spec = std::move(*asked);
      return input;
    }
    case InputKind::Cancel:
      return Cancel{job(in)};
    case InputKind::Hold:
      return Hold{job(in)};
    case InputKind::Release:
      return Release{job(in)};
    case InputKind::Pause:
      return Pause{};
    case InputKind::Resume:
      return Resume{};
    case InputKind::JobStarted:
      return JobStarted{job(in)};
    case InputKind::JobExited:
      return exited(in);
    case InputKind::DeviceChanged: {
      const DeviceId changed = device(in);
      return DeviceChanged{changed, health(in)};
    }
    case InputKind::ForeignUse: {
      const DeviceId used = device(in);
      return ForeignUse{used, Bytes{in.integer()}};
    }
    case InputKind::DeviceAdded:
      return DeviceAdded{device_spec(in)};
    case InputKind::Stepped:
      return Stepped{};
    case InputKind::JobLost:
      return JobLost{job(in)};
    case InputKind::Restarted:
      return restarted(in);
    case InputKind::Reclaim: {
      const JobId claims = job(in);
      return Reclaim{claims, Bytes{in.integer()}};
    }
    case InputKind::Reestimate: {
      const JobId waits = job(in);
      return Reestimate{waits, Duration{in.integer()}};
    }
    case InputKind::JobUse: {
      const JobId uses = job(in);
      const DeviceId used = device(in);
      return JobUse{uses, used, Bytes{in.integer()}};
    }
    case InputKind::PolicyChanged: {
      std::string policy(in.text());
      return PolicyChanged{std::move(policy), placement(in)};
    }
    case InputKind::Restored:
      return restored(in);
    case InputKind::Edited: {
      const JobId edited = job(in);
      std::optional<JobSpec> asked = decode_spec(in);
      return asked ? std::optional<JournalInput>(Edit{edited, std::move(*asked)}) : std::nullopt;
    }
    case InputKind::CheckpointBegun:
      return CheckpointBegun{};
    case InputKind::JobsGone:
      return jobs_gone(in);
    case InputKind::CheckpointDone:
      return checkpoint_done(in);
    case InputKind::DeviceTaken: {
      const DeviceId taken = device(in);
      return DeviceTaken{taken, in.number_up_to(1) == 1};
    }
    case InputKind::StartRefused: {
      const JobId refused = job(in);
      return StartRefused{refused, devices(in)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<JournalInput> decode_input(std::string_view bytes) {
  Decoder in(bytes);
  std::optional<JournalInput> input = read(in);
  if (in.failed() || !in.at_end()) {
    return std::nullopt;
  }
  return input;
}

}  // namespace berth
