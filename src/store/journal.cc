#include "store/journal.h"

#include <cmath>
#include <limits>

#include "store/coding.h"
#include "store/fields.h"

namespace berth {
namespace {

/// The first byte of an entry. The numbers are on disk.
enum class Kind : std::uint8_t {
  Submitted = 1,
  Cancel = 2,
  Hold = 3,
  Release = 4,
  Pause = 5,
  Resume = 6,
  JobStarted = 7,
  JobExited = 8,
  DeviceChanged = 9,
  ForeignUse = 10,
  DeviceAdded = 11,
  Stepped = 12,
  JobLost = 13,
  Restarted = 14,
  Restored = 15,
  Edited = 16,
  DeviceTaken = 17,
  StartRefused = 18,
  Reclaim = 19,
  JobUse = 20,
  PolicyChanged = 21,
};

/// Words, so that an entry that was cut off is not taken for an older one.
constexpr std::string_view kProjects = "projects";
constexpr std::string_view kUsers = "users";

std::int64_t milliwatts(double watts) { return std::llround(watts * 1000); }

struct Encode {
  Encoder& out;

  Encoder& kind(Kind kind) const { return out.number(static_cast<std::uint64_t>(kind)); }

  void operator()(const Submitted& input) const {
    kind(Kind::Submitted).number(input.first.value).number(input.count);
  }
  void operator()(const Cancel& input) const { kind(Kind::Cancel).number(input.job.value); }
  void operator()(const Hold& input) const { kind(Kind::Hold).number(input.job.value); }
  void operator()(const Release& input) const { kind(Kind::Release).number(input.job.value); }
  void operator()(const Pause&) const { kind(Kind::Pause); }
  void operator()(const Resume&) const { kind(Kind::Resume); }
  void operator()(const JobStarted& input) const { kind(Kind::JobStarted).number(input.job.value); }
  void operator()(const JobExited& input) const {
    kind(Kind::JobExited)
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
    kind(Kind::Reclaim).number(input.job.value).integer(input.memory.count);
  }
  void operator()(const JobUse& input) const {
    kind(Kind::JobUse)
        .number(input.job.value)
        .number(input.device.value)
        .integer(input.memory.count);
  }
  void operator()(const DeviceChanged& input) const {
    kind(Kind::DeviceChanged)
        .number(input.device.value)
        .number(static_cast<std::uint64_t>(input.health));
  }
  void operator()(const ForeignUse& input) const {
    kind(Kind::ForeignUse).number(input.device.value).integer(input.memory.count);
  }
  void operator()(const DeviceAdded& input) const {
    const DeviceSpec& device = input.device;
    kind(Kind::DeviceAdded)
        .text(device.name)
        .text(device.uuid)
        .text(device.model)
        .integer(device.memory.count)
        .number(device.locality.node)
        .number(device.locality.numa)
        .number(device.locality.island)
        .integer(milliwatts(device.power.idle))
        .integer(milliwatts(device.power.busy));
  }
  void operator()(const Stepped&) const { kind(Kind::Stepped); }
  void operator()(const JobLost& input) const { kind(Kind::JobLost).number(input.job.value); }
  void operator()(const Restarted& input) const {
    const Scheduler::Config& config = input.config;
    kind(Kind::Restarted)
        .text(input.policy)
        .number(static_cast<std::uint64_t>(config.placement))
        .integer(config.limits.buffer.count)
        .number(config.limits.cpu_slots)
        .integer(config.grace.count())
        .number(config.enforce_claims ? 1 : 0)
        .text(input.charged_to == ChargedTo::User ? kUsers : kProjects);
  }
  void operator()(const PolicyChanged& input) const {
    kind(Kind::PolicyChanged)
        .text(input.policy)
        .number(static_cast<std::uint64_t>(input.placement));
  }
  void operator()(const Restored& input) const {
    kind(Kind::Restored)
        .number(input.first.value)
        .number(input.count)
        .number(input.held ? 1 : 0)
        .integer(input.not_before.time_since_epoch().count())
        .number(input.attempt)
        .number(input.running ? 1 : 0);
    if (input.running) {
      out.number(input.starting ? 1 : 0)
          .number(static_cast<std::uint64_t>(input.running->stopping))
          .integer(input.running->since.time_since_epoch().count());
      devices(input.running->devices);
    }
    out.number(input.claim ? 1 : 0).integer(input.claim.value_or(Bytes{}).count);
    out.number(input.memory_retries);
  }
  void operator()(const Edited& input) const {
    kind(Kind::Edited).number(input.job.value);
    spec(input.before);
    spec(input.after);
    out.number(input.before.weight).number(input.after.weight);
  }

  void operator()(const DeviceTaken& input) const {
    kind(Kind::DeviceTaken).number(input.device.value).number(input.taken ? 1 : 0);
  }
  void operator()(const StartRefused& input) const {
    kind(Kind::StartRefused).number(input.job.value);
    devices(input.taken);
  }

  void devices(const std::vector<DeviceId>& list) const {
    out.number(list.size());
    for (const DeviceId device : list) {
      out.number(device.value);
    }
  }

  void spec(const JobSpec& spec) const {
    out.text(encode_needs(spec.needs))
        .integer(spec.priority)
        .integer(spec.expected.count())
        .integer(spec.limit.count())
        .integer(spec.warn_before.count())
        .integer(spec.begin.time_since_epoch().count())
        .text(encode_retry(spec.retry));
  }
};

JobId job(Decoder& in) { return JobId{in.number()}; }

DeviceId device(Decoder& in) {
  return DeviceId{
      static_cast<std::uint32_t>(in.number_up_to(std::numeric_limits<std::uint32_t>::max()))};
}

std::uint16_t small(Decoder& in) {
  return static_cast<std::uint16_t>(in.number_up_to(std::numeric_limits<std::uint16_t>::max()));
}

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

DeviceAdded added(Decoder& in) {
  DeviceAdded input;
  input.device.name = in.text();
  input.device.uuid = in.text();
  input.device.model = in.text();
  input.device.memory = Bytes{in.integer()};
  input.device.locality = {small(in), small(in), small(in)};
  if (!in.at_end()) {  // older entries end here
    input.device.power.idle = static_cast<double>(in.integer()) / 1000;
    input.device.power.busy = static_cast<double>(in.integer()) / 1000;
  }
  return input;
}

Time time(Decoder& in) { return Time(Duration(in.integer())); }

std::vector<DeviceId> devices(Decoder& in) {
  std::vector<DeviceId> list;
  for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
    list.push_back(device(in));
  }
  return list;
}

Restored restored(Decoder& in) {
  Restored input;
  input.first = job(in);
  input.count =
      static_cast<std::uint32_t>(in.number_up_to(std::numeric_limits<std::uint32_t>::max()));
  input.held = in.number_up_to(1) == 1;
  input.not_before = time(in);
  input.attempt = small(in);
  if (in.number_up_to(1) == 1) {
    input.starting = in.number_up_to(1) == 1;
    Running running;
    running.stopping =
        static_cast<Stopping>(in.number_up_to(static_cast<std::uint64_t>(Stopping::Profile)));
    running.since = time(in);
    running.devices = devices(in);
    input.running = std::move(running);
  }
  if (!in.at_end()) {  // older entries end here
    const bool claimed = in.number_up_to(1) == 1;
    const Bytes claim{in.integer()};
    input.claim = claimed ? std::optional(claim) : std::nullopt;
    input.memory_retries = static_cast<std::uint8_t>(in.number_up_to(255));
  }
  return input;
}

Placement placement(Decoder& in) {
  return static_cast<Placement>(in.number_up_to(static_cast<std::uint64_t>(Placement::Fgd)));
}

Restarted restarted(Decoder& in) {
  Restarted input{std::string(in.text())};
  if (!in.at_end()) {  // older entries end here
    Scheduler::Config& config = input.config;
    config.placement = placement(in);
    config.limits.buffer = Bytes{in.integer()};
    config.limits.cpu_slots =
        static_cast<std::uint32_t>(in.number_up_to(std::numeric_limits<std::uint32_t>::max()));
    config.grace = Duration(in.integer());
    config.enforce_claims = in.number_up_to(1) == 1;
  }
  if (!in.at_end()) {
    input.charged_to = in.text() == kUsers ? ChargedTo::User : ChargedTo::Project;
  }
  return input;
}

std::optional<JobSpec> spec(Decoder& in) {
  JobSpec spec;
  std::optional<Needs> needs = decode_needs(in.text());
  spec.priority = static_cast<std::int32_t>(in.integer());
  spec.expected = Duration(in.integer());
  spec.limit = Duration(in.integer());
  spec.warn_before = Duration(in.integer());
  spec.begin = time(in);
  const std::optional<RetryRule> retry = decode_retry(in.text());
  if (!needs || !retry) {
    return std::nullopt;
  }
  spec.needs = std::move(*needs);
  spec.retry = *retry;
  return spec;
}

std::optional<JournalInput> read(Decoder& in) {
  switch (static_cast<Kind>(in.number_up_to(static_cast<std::uint64_t>(Kind::PolicyChanged)))) {
    case Kind::Submitted: {
      const JobId first = job(in);
      return Submitted{first, static_cast<std::uint32_t>(
                                  in.number_up_to(std::numeric_limits<std::uint32_t>::max()))};
    }
    case Kind::Cancel:
      return Cancel{job(in)};
    case Kind::Hold:
      return Hold{job(in)};
    case Kind::Release:
      return Release{job(in)};
    case Kind::Pause:
      return Pause{};
    case Kind::Resume:
      return Resume{};
    case Kind::JobStarted:
      return JobStarted{job(in)};
    case Kind::JobExited:
      return exited(in);
    case Kind::DeviceChanged: {
      const DeviceId changed = device(in);
      return DeviceChanged{changed, static_cast<DeviceHealth>(in.number_up_to(
                                        static_cast<std::uint64_t>(DeviceHealth::Removed)))};
    }
    case Kind::ForeignUse: {
      const DeviceId used = device(in);
      return ForeignUse{used, Bytes{in.integer()}};
    }
    case Kind::DeviceAdded:
      return added(in);
    case Kind::Stepped:
      return Stepped{};
    case Kind::JobLost:
      return JobLost{job(in)};
    case Kind::Restarted:
      return restarted(in);
    case Kind::Reclaim: {
      const JobId claims = job(in);
      return Reclaim{claims, Bytes{in.integer()}};
    }
    case Kind::JobUse: {
      const JobId uses = job(in);
      const DeviceId used = device(in);
      return JobUse{uses, used, Bytes{in.integer()}};
    }
    case Kind::PolicyChanged: {
      std::string policy(in.text());
      return PolicyChanged{std::move(policy), placement(in)};
    }
    case Kind::Restored:
      return restored(in);
    case Kind::Edited: {
      const JobId edited = job(in);
      std::optional<JobSpec> before = spec(in);
      std::optional<JobSpec> after = spec(in);
      if (!before || !after) {
        return std::nullopt;
      }
      if (!in.at_end()) {  // older entries end here
        before->weight = small(in);
        after->weight = small(in);
      }
      return Edited{edited, std::move(*before), std::move(*after)};
    }
    case Kind::DeviceTaken: {
      const DeviceId taken = device(in);
      return DeviceTaken{taken, in.number_up_to(1) == 1};
    }
    case Kind::StartRefused: {
      const JobId refused = job(in);
      return StartRefused{refused, devices(in)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string encode_input(const JournalInput& input) {
  Encoder out;
  std::visit(Encode{out}, input);
  return out.take();
}

std::optional<JournalInput> decode_input(std::string_view bytes) {
  Decoder in(bytes);
  std::optional<JournalInput> input = read(in);
  if (in.failed() || !in.at_end()) {
    return std::nullopt;
  }
  return input;
}

}  // namespace berth
