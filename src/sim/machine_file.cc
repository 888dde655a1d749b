#include "sim/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "sim/read_text.h"

namespace berth {
namespace {

constexpr std::array<std::string_view, 7> kColumns = {"count",  "model",  "memory", "speed",
                                                      "idle_w", "full_w", "machine"};

class MachineFile {
 public:
  explicit MachineFile(const std::string& path) : path_(path) {}

  Result<Machine> parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::string_view line = trim(take_until(text, '\n'));
      if (line.empty() || line.starts_with('#')) {
        continue;
      }
      if (Result<void> taken = columns_.empty() ? take_header(line) : take_row(line); !taken) {
        return Failure(taken.error());
      }
    }
    if (machine_.empty()) {
      return fail(ErrorCode::Usage,
                  fmt::format("{}: no device is in it: write a line of column names ({}) and one "
                              "for each kind of device",
                              path_, fmt::join(kColumns, ", ")));
    }
    return std::move(machine_);
  }

 private:
  Failure wrong(std::string_view column, std::string_view why) const {
    return fail(ErrorCode::Usage,
                fmt::format("{}: line {}, column {}: {}", path_, line_, column, why));
  }

  Result<void> take_header(std::string_view line) {
    while (!line.empty()) {
      const std::string_view name = trim(take_until(line, ','));
      if (std::find(kColumns.begin(), kColumns.end(), name) == kColumns.end()) {
        return wrong(name, fmt::format("there is no such column: choose from {}",
                                       fmt::join(kColumns, ", ")));
      }
      if (std::find(columns_.begin(), columns_.end(), name) != columns_.end()) {
        return wrong(name, "it comes twice");
      }
      columns_.emplace_back(name);
    }
    return {};
  }

  Result<void> take_number(std::string_view column, std::string_view cell, double least,
                           double most, double& out) const {
    const Result<double> value = parse_real(cell, column);
    if (!value || !(*value >= least && *value <= most)) {
      return wrong(column, fmt::format("'{}' is not a number from {} to {}", cell, least, most));
    }
    out = *value;
    return {};
  }

  Result<void> take_cell(std::string_view column, std::string_view cell) {
    constexpr double kMostWatts = 100'000;
    DeviceSpec& spec = device_.spec;
    if (column == "model") {
      spec.model = cell;
      return {};
    }
    if (column == "memory") {
      const Result<Bytes> memory = parse_bytes(cell);
      if (!memory) {
        return wrong(column, memory.error().message);
      }
      spec.memory = *memory;
      return {};
    }
    if (column == "speed") {
      return take_number(column, cell, 0.001, 1000, device_.speed);
    }
    if (column == "idle_w" || column == "full_w") {
      return take_number(column, cell, 0, kMostWatts,
                         (column == "idle_w" ? idle_ : full_).emplace(0));
    }
    double whole = 0;
    const double least = column == "count" ? 1 : 0;
    const double most = column == "count" ? 100'000 : std::numeric_limits<std::uint16_t>::max();
    if (Result<void> taken = take_number(column, cell, least, most, whole); !taken) {
      return taken;
    }
    if (whole != static_cast<double>(static_cast<std::uint32_t>(whole))) {
      return wrong(column, fmt::format("'{}' is not a whole number", cell));
    }
    if (column == "count") {
      count_ = static_cast<std::uint32_t>(whole);
    } else {
      spec.locality.node = static_cast<std::uint16_t>(whole);
    }
    return {};
  }

  Result<void> take_row(std::string_view line) {
    device_ = {};
    count_ = 1;
    idle_.reset();
    full_.reset();
    for (std::size_t i = 0; !line.empty(); ++i) {
      const std::string_view cell = trim(take_until(line, ','));
      if (i >= columns_.size()) {
        return wrong(std::to_string(i + 1), "the first line names no such column");
      }
      if (!cell.empty()) {
        if (Result<void> taken = take_cell(columns_[i], cell); !taken) {
          return taken;
        }
      }
    }
    const DevicePower usual = usual_power(device_.spec.model);
    device_.spec.power = {idle_.value_or(usual.idle), full_.value_or(usual.busy)};
    if (device_.spec.power.busy < device_.spec.power.idle) {
      return wrong("full_w", fmt::format("a busy device cannot draw less ({} W) than an idle one "
                                         "({} W)",
                                         device_.spec.power.busy, device_.spec.power.idle));
    }
    if (machine_.size() + count_ > kMostSimDevices) {
      return wrong("count", fmt::format("at most {} devices can be simulated", kMostSimDevices));
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
      device_.spec.name = std::to_string(machine_.size());
      machine_.push_back(device_);
    }
    return {};
  }

  const std::string& path_;
  std::size_t line_ = 0;
  std::vector<std::string> columns_;
  SimDevice device_;  // of the present line
  std::uint32_t count_ = 1;
  std::optional<double> idle_;
  std::optional<double> full_;
  Machine machine_;
};

}  // namespace

Result<Machine> parse_machine_file(std::string_view text, const std::string& path) {
  return MachineFile(path).parse(text);
}

Result<Machine> read_machine_file(const std::string& path) {
  const Result<std::string> text = read_text(path);
  if (!text) {
    return Failure(text.error());
  }
  return parse_machine_file(*text, path);
}

}  // namespace berth
