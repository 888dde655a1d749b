#include "daemon/daemon_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace berth {
namespace {

/// The lines of a setting, each a name.
Result<std::vector<std::string>> setting_lines(Store& store, std::string_view name) {
  const Result<std::optional<std::string>> value = store.settings().get(name);
  if (!value) {
    return fail(ErrorCode::Io, "the settings in the database cannot be read");
  }
  std::vector<std::string> lines;
  std::string_view left = value->has_value() ? std::string_view(**value) : "";
  while (!left.empty()) {
    lines.emplace_back(take_until(left, '\n'));
  }
  return lines;
}

Result<void> save_lines(Store& store, std::string name, const std::vector<std::string>& lines) {
  return store.settings().set(std::move(name), fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace

Result<void> DaemonDevices::open(Store& store, const std::string& gpus) {
  constexpr std::string_view kSetting = "gpus";
  const Result<std::optional<std::string>> before = store.settings().get(kSetting);
  if (!before) {
    return fail(ErrorCode::Io, "the settings in the database cannot be read");
  }
  first_ = !gpus.empty() ? gpus : before->value_or("auto");
  Result<std::unique_ptr<Devices>> opened = open_devices(first_);
  const bool none_found = !opened && opened.error().code == ErrorCode::NotFound && first_ == "auto";
  if (none_found) {
    opened = open_devices(kNoDevices);
  }
  if (!opened) {
    return gpus.empty() && before->has_value()
               ? fail(opened.error().code,
                      fmt::format("--gpus {}, as before: {}", first_, opened.error().message))
               : Failure(opened.error());
  }
  group_.add(std::move(*opened));
  return store.settings().set(std::string(kSetting), first_);
}

Result<void> DaemonDevices::add(const std::string& gpus, Unseen unseen, Driver& driver) {
  Result<std::unique_ptr<Devices>> opened = open_devices(gpus, unseen);
  if (!opened) {
    return Failure(opened.error());
  }
  LiveDevices& live = driver.devices();
  const bool read = live.has_readings();
  live.stop_readings();
  group_.add(std::move(*opened));
  driver.add_devices();
  if (read) {
    live.start_readings();
  }
  added_.push_back(gpus);
  return {};
}

Result<void> DaemonDevices::restore(Store& store, Driver& driver, DaemonLog& log, Time at) {
  const auto drained = setting_lines(store, "drained");
  const auto removed = setting_lines(store, "removed");
  const auto added = setting_lines(store, "added");
  for (const auto* lines : {&drained, &removed, &added}) {
    if (!*lines) {
      return Failure(lines->error());
    }
  }
  for (const std::string& gpus : *added) {
    if (const Result<void> opened = add(gpus, Unseen::Trust, driver); !opened) {
      // They may come back with the next start; the jobs of the others need not wait for them.
      log.write(opened.error().message);
      added_.push_back(gpus);
    }
  }
  for (std::uint32_t i = 0; i < driver.devices().states().size(); ++i) {
    const DeviceId device{i};
    const auto among = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name(device)) != names.end();
    };
    driver.devices().set_drained(device, among(*drained), at);
    driver.devices().set_removed(device, among(*removed), at);
  }
  return {};
}

Result<void> DaemonDevices::save(Store& store, const Driver& driver) const {
  std::vector<std::string> drained;
  std::vector<std::string> removed;
  for (std::uint32_t i = 0; i < driver.devices().states().size(); ++i) {
    const DeviceState& state = driver.devices().states()[i];
    if (state.drained) {
      drained.push_back(name(DeviceId{i}));
    }
    if (state.removed) {
      removed.push_back(name(DeviceId{i}));
    }
  }
  if (Result<void> saved = save_lines(store, "drained", drained); !saved) {
    return saved;
  }
  if (Result<void> saved = save_lines(store, "removed", removed); !saved) {
    return saved;
  }
  return save_lines(store, "added", added_);
}

Result<void> DaemonDevices::open_locks(const std::string& state_folder, Driver& driver) {
  Result<std::unique_ptr<DeviceLocks>> opened = DeviceLocks::open(
      {"daemon", state_folder, "berth daemon of " + state_folder, true}, group_.list());
  if (!opened) {
    return Failure(opened.error());
  }
  locks_ = std::move(*opened);
  driver.devices().use_locks(locks_.get());
  return {};
}

std::vector<std::string> DaemonDevices::names(const std::vector<DeviceId>& devices) const {
  std::vector<std::string> names;
  for (const DeviceId device : devices) {
    names.push_back(name(device));
  }
  return names;
}

std::vector<DeviceId> DaemonDevices::slots(const DeviceTable& table,
                                           const std::vector<std::string>& names) {
  std::vector<DeviceId> slots;
  for (const std::string& name : names) {
    std::optional<DeviceId> best;
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      const DeviceId id{i};
      if (table[id].spec.name == name && std::find(slots.begin(), slots.end(), id) == slots.end() &&
          (!best || table[id].leases.size() < table[*best].leases.size())) {
        best = id;
      }
    }
    if (best) {
      slots.push_back(*best);
    }
  }
  return slots;
}

std::vector<std::string> DaemonDevices::sources() const {
  std::vector<std::string> sources = {first_};
  sources.insert(sources.end(), added_.begin(), added_.end());
  return sources;
}

}  // namespace berth
