#include "store/journal.h"

#include <limits>

#include "store/coding.h"

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
};

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
        .number(device.locality.island);
  }
  void operator()(const Stepped&) const { kind(Kind::Stepped); }
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
  return input;
}

DeviceAdded added(Decoder& in) {
  DeviceAdded input;
  input.device.name = in.text();
  input.device.uuid = in.text();
  input.device.model = in.text();
  input.device.memory = Bytes{in.integer()};
  input.device.locality = {small(in), small(in), small(in)};
  return input;
}

std::optional<Input> read(Decoder& in) {
  switch (static_cast<Kind>(in.number_up_to(static_cast<std::uint64_t>(Kind::Stepped)))) {
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
                                        static_cast<std::uint64_t>(DeviceHealth::Lost)))};
    }
    case Kind::ForeignUse: {
      const DeviceId used = device(in);
      return ForeignUse{used, Bytes{in.integer()}};
    }
    case Kind::DeviceAdded:
      return added(in);
    case Kind::Stepped:
      return Stepped{};
  }
  return std::nullopt;
}

}  // namespace

std::string encode_input(const Input& input) {
  Encoder out;
  std::visit(Encode{out}, input);
  return out.take();
}

std::optional<Input> decode_input(std::string_view bytes) {
  Decoder in(bytes);
  std::optional<Input> input = read(in);
  if (in.failed() || !in.at_end()) {
    return std::nullopt;
  }
  return input;
}

}  // namespace berth
