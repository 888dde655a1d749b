// The daemon's devices: what drivers tell of them, and what users want done with them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/daemon.h"
#include "daemon/replies.h"

namespace berth {
namespace {

std::string_view health_name(DeviceHealth health) {
  switch (health) {
    case DeviceHealth::Ok:
      return "ok";
    case DeviceHealth::Drained:
      return "drained";
    case DeviceHealth::Lost:
      return "lost";
    case DeviceHealth::Removed:
      return "removed";
  }
  return "";
}

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(", "), text.size());
    if (end > 0) {
      names.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace

/// `gpus`, as `--gpus` names them.
Result<void> Daemon::add_devices(const std::string& gpus) {
  Result<std::unique_ptr<Devices>> opened = open_devices(gpus);
  if (!opened) {
    return Failure(opened.error());
  }
  if (driver_ == nullptr) {
    devices_.add(std::move(*opened));
    return {};
  }
  LiveDevices& live = driver_->devices();
  const bool read = live.has_readings();
  live.stop_readings();
  devices_.add(std::move(*opened));
  driver_->add_devices();
  if (read) {
    live.start_readings();
  }
  return {};
}

void Daemon::reading_taken(const Telemetry::Reading& reading, Time at) {
  device_history_.add(at, reading.samples);
  note_usage(at);
  if (events_->has_listeners()) {
    events_->tell_listeners("devices", devices_json());
  }
}

void Daemon::device_changed(DeviceId device, DeviceHealth) {
  const DeviceSlot& slot = scheduler().devices()[device];
  log_.write("device {} is {}", slot.spec.name, health_name(slot.health));
  events_->announce("device", fmt::format(R"({{"device":{},"health":"{}"}})", quote(slot.spec.name),
                                          health_name(slot.health)));
}

std::vector<std::string> Daemon::device_names(bool DeviceState::*flag) const {
  std::vector<std::string> names;
  const std::vector<DeviceState>& states = driver_->devices().states();
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].*flag) {
      names.push_back(devices_.list()[i].spec.name);
    }
  }
  return names;
}

Result<void> Daemon::save_devices() {
  const auto save = [&](std::string name, const std::vector<std::string>& lines) {
    return store_->set_setting(std::move(name), fmt::format("{}", fmt::join(lines, "\n")));
  };
  if (Result<void> saved = save("drained", device_names(&DeviceState::drained)); !saved) {
    return saved;
  }
  if (Result<void> saved = save("removed", device_names(&DeviceState::removed)); !saved) {
    return saved;
  }
  return save("added", added_devices_);
}

void Daemon::change_devices(Asked asked) {
  answer(std::move(asked.reply), changed_devices(asked.request, asked.verb));
}

HttpResponse Daemon::changed_devices(const HttpRequest& request, std::string_view verb) {
  if (!may_change(request.peer, ::getuid())) {
    return not_yours();
  }
  std::vector<std::string> unknown;
  std::vector<std::uint32_t> known;
  for (const std::string& name : split_names(request.parameter("names").value_or(""))) {
    const std::size_t before = known.size();
    for (std::uint32_t i = 0; i < driver_->devices().states().size(); ++i) {
      const DeviceSpec& spec = devices_.list()[i].spec;
      if ((spec.name == name || spec.uuid == name) &&
          (verb == "add" || !driver_->devices().states()[i].removed)) {
        known.push_back(i);
      }
    }
    if (known.size() == before) {
      unknown.push_back(name);
    }
  }
  if (known.empty() && unknown.empty()) {
    return failed({ErrorCode::Usage, "say which devices"});
  }
  const bool adds = verb == "add";
  if (!adds && !unknown.empty()) {
    return failed({ErrorCode::NotFound, fmt::format("there is no device {} here (berth gpus list)",
                                                    fmt::join(unknown, ", "))});
  }
  if (adds && !unknown.empty()) {
    const std::string gpus = fmt::format("{}", fmt::join(unknown, ","));
    if (const Result<void> added = add_devices(gpus); !added) {
      return failed(added.error());
    }
    added_devices_.push_back(gpus);
  }
  const Time at = now();
  for (const std::uint32_t i : known) {
    if (adds || verb == "remove") {
      driver_->devices().set_removed(DeviceId{i}, !adds, at);
    } else {
      driver_->devices().set_drained(DeviceId{i}, verb == "drain", at);
    }
  }
  check(save_devices());
  return list_devices(request);
}

std::string Daemon::devices_json() const {
  std::string text;
  for (std::uint32_t i = 0; i < driver_->devices().states().size(); ++i) {
    const DeviceInfo& info = devices_.list()[i];
    const DeviceSlot& slot = scheduler().devices()[DeviceId{i}];
    const DeviceState& state = driver_->devices().states()[i];
    if (state.removed && slot.leases.empty()) {
      continue;
    }
    std::vector<std::string> fields = {fmt::format(R"("name":{})", quote(info.spec.name)),
                                       fmt::format(R"("uuid":{})", quote(info.spec.uuid)),
                                       fmt::format(R"("model":{})", quote(info.spec.model)),
                                       fmt::format(R"("health":"{}")", health_name(slot.health)),
                                       fmt::format(R"("memory_bytes":{})", info.spec.memory.count),
                                       fmt::format(R"("foreign_bytes":{})", slot.foreign.count)};
    const auto add = [&](const char* key, const auto& value) {
      if (value) {
        fields.push_back(fmt::format(R"("{}":{})", key, *value));
      }
    };
    fields.push_back(fmt::format(R"("expected_idle_w":{},"expected_busy_w":{})",
                                 slot.spec.power.idle, slot.spec.power.busy));
    if (state.sample) {
      const DeviceSample& sample = *state.sample;
      add("used_bytes", sample.used ? std::optional(sample.used->count) : std::nullopt);
      add("utilization_percent", sample.utilization);
      add("power_w", sample.power);
      add("power_limit_w", sample.power_limit);
      add("energy_j", sample.energy);
      add("temperature_c", sample.temperature);
    }
    std::vector<std::string> jobs;
    Bytes claimed;
    for (const DeviceLease& lease : slot.leases) {
      claimed += lease.memory;
      const auto used = state.use.jobs.find(lease.job);
      jobs.push_back(fmt::format(R"({{"id":{},"claim_bytes":{},"share":{},"used_bytes":{}}})",
                                 lease.job.value, lease.memory.count, lease.share,
                                 used == state.use.jobs.end() ? 0 : used->second.count));
    }
    fields.push_back(fmt::format(R"("claimed_bytes":{})", claimed.count));
    if (const DeviceLocks::Obstacle* obstacle = locks_->obstacle(DeviceId{i})) {
      fields.push_back(fmt::format(R"("obstacle":{})", quote(describe(*obstacle, info.spec.name))));
    }
    fields.push_back(fmt::format(R"("jobs":[{}])", fmt::join(jobs, ",")));
    text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", fmt::join(fields, ","));
  }
  std::vector<std::string> sources = {quote(options_.gpus)};
  for (const std::string& gpus : added_devices_) {
    sources.push_back(quote(gpus));
  }
  return fmt::format(R"({{"version":1,"devices":[{}],"sources":[{}]}})", text,
                     fmt::join(sources, ","));
}

HttpResponse Daemon::list_devices(const HttpRequest&) { return json(devices_json()); }

}  // namespace berth
