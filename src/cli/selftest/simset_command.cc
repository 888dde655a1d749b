// `berth simset DEVICE key=value…`: what simulated devices report, set by hand. Not in the help:
// for tests and for playing with faults.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "gpu/simulated/sim_devices.h"
#include "gpu/visibility.h"

namespace berth {
namespace {

struct FieldName {
  std::string_view name;
  SimFields field;
};

constexpr std::array kFields = {
    FieldName{"memory", kSimMemory},       FieldName{"util", kSimUtilization},
    FieldName{"power", kSimPower},         FieldName{"limit", kSimPowerLimit},
    FieldName{"energy", kSimEnergy},       FieldName{"temperature", kSimTemperature},
    FieldName{"processes", kSimProcesses}, FieldName{"nvlink", kSimNvlink},
};

/// Names by comma; an empty list makes all supported again.
Result<SimFields> parse_fields(std::string_view text) {
  SimFields bits = 0;
  for (const std::string_view word : split_ids(text)) {
    const auto* found = std::find_if(kFields.begin(), kFields.end(),
                                     [word](const FieldName& field) { return field.name == word; });
    if (found == kFields.end()) {
      return fail(ErrorCode::Usage, fmt::format("unsupported={}: unknown field", word));
    }
    bits |= found->field;
  }
  return bits;
}

Result<void> set_number(SimRecord& device, std::string_view key, std::string_view text) {
  constexpr std::int64_t kMost = 1000;
  const Result<std::int64_t> number = parse_integer(text, key);
  if (!number || *number < 0 || *number > kMost) {
    return fail(ErrorCode::Usage, fmt::format("{} must be 0 to {}, not '{}'", key, kMost, text));
  }
  const auto value = static_cast<std::uint32_t>(*number);
  if (key == "lost") {
    device.lost = value;
  } else if (key == "xid") {
    device.last_xid = value;
    ++device.xid_count;
  } else if (key == "mig") {
    device.mig_slices = value;
  } else if (key == "numa") {
    device.numa = static_cast<std::uint16_t>(value);
  } else if (key == "island") {
    device.island = static_cast<std::uint16_t>(value);
  } else {
    return fail(ErrorCode::Usage, fmt::format("unknown key '{}'", key));
  }
  return {};
}

Result<void> set_one(SimHeader& header, SimRecord& device, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == assignment.npos) {
    return fail(ErrorCode::Usage, fmt::format("'{}' is not key=value", assignment));
  }
  const std::string_view key = assignment.substr(0, equals);
  const std::string_view text = assignment.substr(equals + 1);
  if (key == "driver") {
    set_sim_text(header.driver, text);
  } else if (key == "model") {
    set_sim_text(device.model, text);
  } else if (key == "foreign") {
    const Result<Bytes> size = parse_bytes(text);
    if (!size) {
      return Failure(size.error());
    }
    device.foreign = size->count;
  } else if (key == "unsupported") {
    const Result<SimFields> fields = parse_fields(text);
    if (!fields) {
      return Failure(fields.error());
    }
    device.unsupported = *fields;
  } else {
    return set_number(device, key, text);
  }
  return {};
}

Result<void> apply(SimState& state, std::string_view device,
                   std::span<const std::string> settings) {
  const Result<std::int64_t> index = parse_integer(device, "DEVICE");
  if (!index) {
    return Failure(index.error());
  }
  return state.locked([&](SimHeader& header, std::span<SimRecord> records) -> Result<void> {
    if (*index < 0 || *index >= static_cast<std::int64_t>(records.size())) {
      return fail(ErrorCode::NotFound, fmt::format("no simulated device {}", *index));
    }
    for (const std::string& setting : settings) {
      SimRecord& record = records[static_cast<std::size_t>(*index)];
      if (Result<void> done = set_one(header, record, setting); !done) {
        return done;
      }
    }
    return {};
  });
}

}  // namespace

int simset_main(Words words) {
  std::string gpus;
  std::vector<std::string> settings;
  Args args("berth simset [--gpus sim:N] DEVICE key=value…",
            "Sets what a simulated device reports: foreign=10GiB lost=1 xid=79 mig=2 numa=1\n"
            "island=1 model=NAME unsupported=power,util driver=535.54.03");
  args.value("--gpus", "sim:N", "which devices (default: those of BERTH_SIM_STATE)", gpus);
  args.positional("DEVICE key=value…", "what to set", 2, 100, [&](std::string_view word) {
    settings.emplace_back(word);
    return Result<void>();
  });
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth simset", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::unique_ptr<SimState>> state = open_sim_state(gpus);
  if (!state) {
    return report("berth simset", state.error());
  }
  const Result<void> done = apply(**state, settings.front(), std::span(settings).subspan(1));
  return done ? 0 : report("berth simset", done.error());
}

}  // namespace berth
