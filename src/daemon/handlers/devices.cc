#include "daemon/handlers/devices.h"

#include <fmt/format.h>
#include <unistd.h>

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
  for (const std::string& word : split_names(request.parameter("names").value_or(""))) {
    const std::string_view name =
        word.starts_with(kTrust) ? std::string_view(word).substr(kTrust.size()) : word;
    const std::size_t before = known.size();
    for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
      const DeviceSpec& spec = devices.list()[i].spec;
      if ((spec.name == name || spec.uuid == name) &&
          (verb == "add" || !desk.driver.devices().states()[i].removed)) {
        known.push_back(i);
      }
    }
    if (known.size() == before) {
      unknown.push_back(word);
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
    if (const Result<void> added = devices.add(gpus, Unseen::Refuse, desk.driver); !added) {
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
  return json(to_json(devices_reply(desk, devices)));
}

DeviceReport report(const DeviceSpec& spec, const DeviceSlot& slot, const DeviceState& state) {
  DeviceReport report;
  report.name = spec.name;
  report.uuid = spec.uuid;
  report.model = spec.model;
  report.health = health_name(slot.health);
  report.memory = spec.memory;
  report.foreign = slot.foreign;
  report.expected_idle = slot.spec.power.idle;
  report.expected_busy = slot.spec.power.busy;
  if (state.sample) {
    const DeviceSample& sample = *state.sample;
    report.used = sample.used;
    report.utilization = sample.utilization;
    report.power = sample.power;
    report.power_limit = sample.power_limit;
    report.energy = sample.energy;
    report.temperature = sample.temperature;
  }
  for (const DeviceLease& lease : slot.leases) {
    report.claimed += lease.memory;
    const auto used = state.use.jobs.find(lease.job);
    report.jobs.push_back({lease.job, lease.memory, lease.share,
                           used == state.use.jobs.end() ? Bytes{} : used->second});
  }
  return report;
}

}  // namespace

DevicesReply devices_reply(const Desk& desk, const DaemonDevices& devices) {
  DevicesReply reply;
  const std::optional<Reservation> kept = desk.scheduler().reservation(desk.now());
  for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
    const DeviceSlot& slot = desk.scheduler().devices()[DeviceId{i}];
    const DeviceState& state = desk.driver.devices().states()[i];
    if (state.removed && slot.leases.empty()) {
      continue;
    }
    reply.devices.push_back(report(devices.list()[i].spec, slot, state));
    if (const DeviceLocks::Obstacle* obstacle = devices.obstacle(DeviceId{i})) {
      reply.devices.back().obstacle = describe(*obstacle, reply.devices.back().name);
    }
    if (kept && slot.leases.empty() &&
        std::find(kept->devices.begin(), kept->devices.end(), DeviceId{i}) != kept->devices.end()) {
      reply.devices.back().reserved_for = kept->job;
    }
  }
  reply.sources = devices.sources();
  return reply;
}

void list_devices(Desk& desk, const DaemonDevices& devices, RoutedRequest asked) {
  desk.answer(std::move(asked.reply), json(to_json(devices_reply(desk, devices))));
}

void show_cluster_devices(Desk& desk, Targets* targets, RoutedRequest asked) {
  if (asked.request.peer.uid != ::getuid()) {
    return desk.answer(std::move(asked.reply), not_yours());
  }
  const std::string name(asked.request.parameter("name").value_or(""));
  if (name.empty()) {
    return desk.answer(std::move(asked.reply), failed({ErrorCode::Usage, "say which cluster"}));
  }
  if (targets == nullptr) {
    return desk.answer(std::move(asked.reply), not_found("cluster"));
  }
  targets->look(name, [&desk, held = std::make_shared<Turns::Reply>(std::move(asked.reply))](
                          const Result<std::string>& found) {
    desk.answer(std::move(*held), found ? json(*found) : failed(found.error()));
  });
}

void change_devices(Desk& desk, DaemonDevices& devices, RoutedRequest asked) {
  desk.answer(std::move(asked.reply), changed_devices(desk, devices, asked.request, asked.verb));
}

}  // namespace berth
