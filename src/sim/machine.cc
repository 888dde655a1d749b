#include "sim/machine.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "base/units.h"

namespace berth {
namespace {

constexpr auto kMostDevices = static_cast<std::int64_t>(kMostSimDevices);

/// Boards whose figures are well known; others draw what DevicePower says.
struct Board {
  std::string_view name;
  DevicePower power;
};
constexpr std::array kBoards = {
    Board{"t4", {10, 70}},    Board{"a10", {20, 150}},  Board{"p100", {30, 250}},
    Board{"v100", {40, 300}}, Board{"a100", {55, 400}}, Board{"h100", {70, 700}},
};

Failure wrong(std::string_view text, std::string_view why) {
  return fail(ErrorCode::Usage,
              fmt::format("'{}' names no devices: {} (write 24, 3x8, 3x8x24GiB or "
                          "2x8x80GiB:a100+4x4:t4@0.4)",
                          text, why));
}

struct Part {
  std::int64_t nodes = 1;
  std::int64_t gpus = 0;
  SimDevice device;
};

Result<Part> parse_part(std::string_view text) {
  Part part;
  std::string_view rest = text;
  std::string_view size = take_until(rest, ':');
  part.device.spec.model = std::string(take_until(rest, '@'));
  part.device.spec.power = usual_power(part.device.spec.model);
  if (!rest.empty()) {
    const Result<double> speed = parse_real(rest, "a speed");
    if (!speed || !(*speed > 0)) {
      return wrong(text, fmt::format("'{}' is not a speed", rest));
    }
    part.device.speed = *speed;
  }
  if (size.ends_with('x')) {
    return wrong(text, "something is missing after the last x");
  }
  std::vector<std::int64_t> counts;
  while (!size.empty()) {
    const std::string_view word = take_until(size, 'x');
    const Result<std::int64_t> count = parse_integer(word, "a count");
    if (count && counts.size() < 2) {
      if (*count <= 0 || *count > kMostDevices) {
        return wrong(text, fmt::format("{} is not a possible count", *count));
      }
      counts.push_back(*count);
      continue;
    }
    const Result<Bytes> memory = parse_bytes(word);
    if (!memory || counts.empty() || !size.empty()) {
      return wrong(text, fmt::format("'{}' is not understood", word));
    }
    part.device.spec.memory = *memory;
  }
  if (counts.empty()) {
    return wrong(text, "no count is given");
  }
  part.gpus = counts.back();
  part.nodes = counts.size() == 2 ? counts.front() : 1;
  return part;
}

}  // namespace

DevicePower usual_power(std::string_view model) {
  for (const Board& board : kBoards) {
    if (board.name == model) {
      return board.power;
    }
  }
  return {};
}

Result<Machine> parse_machine(std::string_view text) {
  Machine machine;
  if (text.ends_with('+')) {
    return wrong(text, "something is missing after the last +");
  }
  std::uint32_t node = 0;
  std::string_view rest = text;
  do {
    const Result<Part> part = parse_part(take_until(rest, '+'));
    if (!part) {
      return Failure(part.error());
    }
    const auto size = static_cast<std::int64_t>(machine.size());
    if (part->nodes * part->gpus > kMostDevices - size ||
        node + part->nodes > std::numeric_limits<std::uint16_t>::max()) {
      return wrong(text, fmt::format("at most {} devices can be simulated", kMostDevices));
    }
    for (std::int64_t i = 0; i < part->nodes; ++i, ++node) {
      for (std::int64_t j = 0; j < part->gpus; ++j) {
        SimDevice& device = machine.emplace_back(part->device);
        device.spec.name = std::to_string(machine.size() - 1);
        device.spec.locality.node = static_cast<std::uint16_t>(node);
      }
    }
  } while (!rest.empty());
  return machine;
}

}  // namespace berth
