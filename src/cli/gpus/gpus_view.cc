#include "cli/gpus/gpus_view.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>

#include "cli/toolkit/json.h"
#include "cli/toolkit/table.h"
#include "gpu/proc_stat.h"

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

std::string memory_words(const DeviceInfo& device, const DeviceSample& sample) {
  const Bytes total = device.spec.memory;
  if (!sample.used && total.count == 0) {
    return std::string(kUnknown);
  }
  return fmt::format("{} / {}", sample.used ? format_bytes(*sample.used) : kUnknown,
                     total.count > 0 ? format_bytes(total) : kUnknown);
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
  return "ok";
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

template <class T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson or_null(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
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

OrderedJson device_json(const DeviceInfo& device, const DeviceSample& sample,
                        const DaemonDevice* note) {
  OrderedJson gpu;
  gpu["name"] = device.spec.name;
  gpu["family"] = family_name(device.family);
  gpu["model"] = or_null(device.spec.model);
  gpu["uuid"] = or_null(device.spec.uuid);
  gpu["pci_bus"] = or_null(device.pci_bus);
  gpu["numa"] = device.spec.locality.numa;
  gpu["island"] = device.spec.locality.island;
  gpu["state"] = sample.lost ? "lost" : note != nullptr ? note->health : "ok";
  if (note != nullptr) {
    gpu["jobs"] = note->jobs;
    gpu["obstacle"] = or_null(note->obstacle);
  }
  const Bytes total = device.spec.memory;
  gpu["memory_total_bytes"] = total.count > 0 ? OrderedJson(total.count) : OrderedJson();
  gpu["memory_used_bytes"] = sample.used ? OrderedJson(sample.used->count) : OrderedJson();
  gpu["utilization_percent"] = or_null(sample.utilization);
  gpu["power_watts"] = or_null(sample.power);
  gpu["power_limit_watts"] = or_null(sample.power_limit);
  gpu["energy_joules"] = or_null(sample.energy);
  gpu["temperature_celsius"] = or_null(sample.temperature);
  gpu["last_xid"] = or_null(sample.last_xid);
  gpu["processes"] = OrderedJson::array();
  for (const ProcessUse& process : sample.processes) {
    const ProcessWords words = describe_process(process.pid);
    gpu["processes"].push_back({{"pid", process.pid},
                                {"user", or_null(words.user)},
                                {"memory_bytes", process.memory.count},
                                {"command", or_null(words.command)}});
  }
  return gpu;
}

}  // namespace

std::string gpus_table(const GpusView& view, bool processes, const Terminal& terminal) {
  Table table;
  table.column("GPU");
  table.column("MODEL");
  table.column("UUID");
  table.column("MEMORY", Align::Right);
  table.column("UTIL", Align::Right);
  table.column("POWER", Align::Right);
  table.column("TEMP", Align::Right);
  table.column("NUMA", Align::Right);
  table.column("ISLAND", Align::Right);
  table.column("PROCS", Align::Right);
  if (view.daemon) {
    table.column("JOBS");
  }
  table.column("STATE");
  constexpr std::size_t kShortUuid = 12;  // "GPU-" and eight digits, which `--gpus` accepts
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    const DeviceInfo& device = view.devices[i];
    const DeviceSample& sample = view.samples[i];
    const DaemonDevice* note = note_of(view, device);
    if (view.daemon && note == nullptr) {
      continue;
    }
    std::vector<Cell> cells = {device.spec.name,
                               or_unknown(device.spec.model),
                               or_unknown(device.spec.uuid.substr(0, kShortUuid)),
                               memory_words(device, sample),
                               utilization_cell(sample),
                               power_words(sample),
                               temperature_cell(sample),
                               fmt::format("{}", device.spec.locality.numa),
                               fmt::format("{}", device.spec.locality.island),
                               fmt::format("{}", sample.processes.size())};
    if (note != nullptr) {
      cells.emplace_back(fmt::format("{}", fmt::join(note->jobs, ",")));
    }
    cells.push_back(state_cell(sample, note));
    table.row(std::move(cells));
  }
  std::string text = table.render(terminal.columns, terminal.colour);
  for (const DeviceInfo& device : view.devices) {
    if (const DaemonDevice* note = note_of(view, device);
        note != nullptr && !note->obstacle.empty()) {
      text += printable(note->obstacle) + "\n";
    }
  }
  if (processes) {
    text += "\n" + process_table(view, terminal);
  }
  return text;
}

std::string gpus_json(const GpusView& view, bool compact) {
  OrderedJson document;
  document["version"] = 1;
  document["gpus"] = OrderedJson::array();
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    const DaemonDevice* note = note_of(view, view.devices[i]);
    if (!view.daemon || note != nullptr) {
      document["gpus"].push_back(device_json(view.devices[i], view.samples[i], note));
    }
  }
  // Names and commands may hold bytes that are not UTF-8; they must not end the program.
  return json_text(document, compact ? -1 : 2) + "\n";
}

}  // namespace berth
