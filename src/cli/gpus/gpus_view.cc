#include "cli/gpus/gpus_view.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>

#include "api/json_writer.h"
#include "base/small_files.h"
#include "cli/toolkit/table.h"

namespace berth {
namespace {

constexpr std::string_view kUnknown = "-";

struct ProcessWords {
  std::string user;
  std::string command;
};

/// Who runs a process and what it is; empty words where it is gone or not ours to see.
ProcessWords describe_process(pid_t pid) {
  ProcessWords words;
  const std::string folder = fmt::format("/proc/{}", pid);
  struct stat info {};
  if (::stat(folder.c_str(), &info) == 0) {
    const passwd* user = ::getpwuid(info.st_uid);
    words.user = user != nullptr ? user->pw_name : fmt::format("{}", info.st_uid);
  }
  words.command = read_small_file(folder + "/cmdline", 4096).value_or("");
  while (words.command.ends_with('\0')) {
    words.command.pop_back();
  }
  std::replace(words.command.begin(), words.command.end(), '\0', ' ');
  return words;
}

/// "[####....]": how full it is, in eighths.
std::string bar(Bytes used, Bytes total) {
  constexpr std::int64_t kCells = 8;
  const std::int64_t full = std::clamp<std::int64_t>(
      (used.count * kCells + total.count / 2) / total.count, used > Bytes{} ? 1 : 0, kCells);
  std::string cells(static_cast<std::size_t>(full), '#');
  cells.resize(kCells, '.');
  return "[" + cells + "]";
}

/// "6.0 of 24.0 GiB [##......]".
std::string memory_words(const DeviceInfo& device, const DeviceSample& sample) {
  const Bytes total = device.spec.memory;
  if (!sample.used) {
    return total.count == 0 ? std::string(kUnknown) : "- of " + format_bytes(total);
  }
  if (total.count == 0) {
    return format_bytes(*sample.used);
  }
  return fmt::format("{} of {} {}", format_bytes(*sample.used), format_bytes(total),
                     bar(*sample.used, total));
}

std::string power_words(const DeviceSample& sample) {
  if (!sample.power && !sample.power_limit) {
    return std::string(kUnknown);
  }
  const auto watts = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}", *value) : std::string(kUnknown);
  };
  return fmt::format("{} / {} W", watts(sample.power), watts(sample.power_limit));
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? std::string(kUnknown) : text;
}

Cell utilization_cell(const DeviceSample& sample) {
  if (!sample.utilization) {
    return kUnknown;
  }
  return {fmt::format("{} %", *sample.utilization),
          *sample.utilization > 0 ? Colour::Green : Colour::Plain};
}

Cell temperature_cell(const DeviceSample& sample) {
  if (!sample.temperature) {
    return kUnknown;
  }
  constexpr int kHot = 85;
  return {fmt::format("{} °C", *sample.temperature),
          *sample.temperature >= kHot ? Colour::Red : Colour::Plain};
}

/// What the daemon says of a device; nullptr where it says nothing.
const DaemonDevice* note_of(const GpusView& view, const DeviceInfo& device) {
  if (!view.daemon) {
    return nullptr;
  }
  const auto found = view.daemon->devices.find(device.spec.name);
  return found == view.daemon->devices.end() ? nullptr : &found->second;
}

Cell state_cell(const DeviceSample& sample, const DaemonDevice* note) {
  if (sample.lost) {
    return {"lost", Colour::Red};
  }
  if (note != nullptr && note->health != "ok") {
    return {note->health, Colour::Yellow};
  }
  if (note != nullptr && !note->obstacle.empty()) {
    return {"waits", Colour::Yellow};
  }
  if (sample.last_xid) {
    return {fmt::format("xid {}", *sample.last_xid), Colour::Yellow};
  }
  return "";
}

std::string process_table(const GpusView& view, const Terminal& terminal) {
  Table table;
  table.column("GPU");
  table.column("PID", Align::Right);
  table.column("USER");
  table.column("MEMORY", Align::Right);
  table.column("COMMAND");
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    for (const ProcessUse& process : view.samples[i].processes) {
      const ProcessWords words = describe_process(process.pid);
      table.row({view.devices[i].spec.name, fmt::format("{}", process.pid), or_unknown(words.user),
                 format_bytes(process.memory), or_unknown(words.command)});
    }
  }
  return table.render(terminal.columns, terminal.colour);
}

/// null where there is nothing to say.
std::optional<std::string> or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string_view family_name(DeviceFamily family) {
  switch (family) {
    case DeviceFamily::Nvidia:
      return "nvidia";
    case DeviceFamily::Amd:
      return "amd";
    case DeviceFamily::Simulated:
      return "simulated";
    case DeviceFamily::Trusted:
      return "trusted";
  }
  return "";
}

void write_device(JsonWriter& json, const DeviceInfo& device, const DeviceSample& sample,
                  const DaemonDevice* note) {
  json.field("name", device.spec.name);
  json.field("family", family_name(device.family));
  json.field("model", or_null(device.spec.model));
  json.field("uuid", or_null(device.spec.uuid));
  json.field("pci_bus", or_null(device.pci_bus));
  json.field("numa", device.spec.locality.numa);
  json.field("island", device.spec.locality.island);
  json.field("state", sample.lost ? "lost" : note != nullptr ? note->health : "ok");
  if (note != nullptr) {
    json.field("jobs", note->job_ids);
    json.field("obstacle", or_null(note->obstacle));
  }
  const Bytes total = device.spec.memory;
  json.field("memory_total_bytes", total > Bytes{} ? std::optional(total) : std::nullopt);
  json.field("memory_used_bytes", sample.used);
  json.field("utilization_percent", sample.utilization);
  json.field("power_watts", sample.power);
  json.field("power_limit_watts", sample.power_limit);
  json.field("energy_joules", sample.energy);
  json.field("temperature_celsius", sample.temperature);
  json.field("last_xid", sample.last_xid);
  json.array("processes", [&] {
    for (const ProcessUse& process : sample.processes) {
      const ProcessWords words = describe_process(process.pid);
      json.object([&] {
        json.field("pid", process.pid);
        json.field("user", or_null(words.user));
        json.field("memory_bytes", process.memory);
        json.field("command", or_null(words.command));
      });
    }
  });
}

}  // namespace

std::string gpus_table(const GpusView& view, const GpusShown& shown, const Terminal& terminal) {
  Table table;
  table.column("GPU");
  table.optional_column("STATE");
  table.optional_column("MODEL");
  if (shown.wide) {
    table.column("UUID");
    table.column("NUMA", Align::Right);
    table.column("ISLAND", Align::Right);
    table.column("PROCS", Align::Right);
  }
  table.column("MEMORY", Align::Right);
  table.column("UTIL", Align::Right);
  table.column("POWER", Align::Right);
  table.column("TEMP", Align::Right);
  if (view.daemon) {
    table.yielding_column("JOBS");
  }
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    const DeviceInfo& device = view.devices[i];
    const DeviceSample& sample = view.samples[i];
    const DaemonDevice* note = note_of(view, device);
    if (view.daemon && note == nullptr) {
      continue;
    }
    std::vector<Cell> cells = {device.spec.name, state_cell(sample, note), device.spec.model};
    if (shown.wide) {
      constexpr std::size_t kShortUuid = 12;  // "GPU-" and eight digits, which `--gpus` accepts
      cells.insert(cells.end(), {or_unknown(device.spec.uuid.substr(0, kShortUuid)),
                                 fmt::format("{}", device.spec.locality.numa),
                                 fmt::format("{}", device.spec.locality.island),
                                 fmt::format("{}", sample.processes.size())});
    }
    cells.insert(cells.end(), {memory_words(device, sample), utilization_cell(sample),
                               power_words(sample), temperature_cell(sample)});
    if (note != nullptr) {
      cells.emplace_back(fmt::format("{}", fmt::join(note->jobs, ", ")));
    }
    table.row(std::move(cells));
  }
  std::string text = table.render(terminal.columns, terminal.colour);
  for (const DeviceInfo& device : view.devices) {
    if (const DaemonDevice* note = note_of(view, device);
        note != nullptr && !note->obstacle.empty()) {
      text += printable(note->obstacle) + "\n";
    }
  }
  if (shown.processes) {
    text += "\n" + process_table(view, terminal);
  }
  return text;
}

std::string gpus_json(const GpusView& view, bool compact) {
  JsonWriter json(compact ? 0 : 2);
  json.object([&] {
    json.field("version", 1);
    json.array("gpus", [&] {
      for (std::size_t i = 0; i < view.devices.size(); ++i) {
        const DaemonDevice* note = note_of(view, view.devices[i]);
        if (!view.daemon || note != nullptr) {
          json.object([&] { write_device(json, view.devices[i], view.samples[i], note); });
        }
      }
    });
  });
  return json.take() + "\n";
}

}  // namespace berth
