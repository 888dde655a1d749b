#include "daemon/handlers/devices.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

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

HttpResponse changed_devices(Desk& desk, DaemonDevices& devices, const HttpRequest& request,
                             std::string_view verb) {
  if (!Desk::may_steer(request.peer)) {
    return not_yours();
  }
  std::vector<std::string> unknown;
  std::vector<std::uint32_t> known;
  for (const std::string& name : split_names(request.parameter("names").value_or(""))) {
    const std::size_t before = known.size();
    for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
      const DeviceSpec& spec = devices.list()[i].spec;
      if ((spec.name == name || spec.uuid == name) &&
          (verb == "add" || !desk.driver.devices().states()[i].removed)) {
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
    if (const Result<void> added = devices.add(gpus, desk.driver); !added) {
      return failed(added.error());
    }
  }
  const Time at = desk.now();
  for (const std::uint32_t i : known) {
    if (adds || verb == "remove") {
      desk.driver.devices().set_removed(DeviceId{i}, !adds, at);
    } else {
      desk.driver.devices().set_drained(DeviceId{i}, verb == "drain", at);
    }
  }
  desk.check(devices.save(desk.store, desk.driver));
  return json(devices_json(desk, devices));
}

}  // namespace

std::string devices_json(const Desk& desk, const DaemonDevices& devices) {
  std::string text;
  for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
    const DeviceInfo& info = devices.list()[i];
    const DeviceSlot& slot = desk.scheduler().devices()[DeviceId{i}];
    const DeviceState& state = desk.driver.devices().states()[i];
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
    if (const DeviceLocks::Obstacle* obstacle = devices.obstacle(DeviceId{i})) {
      fields.push_back(fmt::format(R"("obstacle":{})", quote(describe(*obstacle, info.spec.name))));
    }
    fields.push_back(fmt::format(R"("jobs":[{}])", fmt::join(jobs, ",")));
    text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", fmt::join(fields, ","));
  }
  std::vector<std::string> sources;
  for (const std::string& gpus : devices.sources()) {
    sources.push_back(quote(gpus));
  }
  return fmt::format(R"({{"version":1,"devices":[{}],"sources":[{}]}})", text,
                     fmt::join(sources, ","));
}

void list_devices(Desk& desk, const DaemonDevices& devices, RoutedRequest asked) {
  desk.answer(std::move(asked.reply), json(devices_json(desk, devices)));
}

void change_devices(Desk& desk, DaemonDevices& devices, RoutedRequest asked) {
  desk.answer(std::move(asked.reply), changed_devices(desk, devices, asked.request, asked.verb));
}

}  // namespace berth
