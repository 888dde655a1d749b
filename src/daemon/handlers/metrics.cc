#include <fmt/format.h>

#include "daemon/handlers/daemon.h"

namespace berth {
namespace {

class Page {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP berth_{0} {2}\n# TYPE berth_{0} {1}\n", name, type, help);
  }
  using Label = std::pair<std::string_view, std::string_view>;

  void sample(double value) { text_ += fmt::format("berth_{} {}\n", name_, value); }
  void sample(std::initializer_list<Label> labels, double value) {
    std::vector<std::string> parts;
    for (const auto& [name, content] : labels) {
      parts.push_back(fmt::format("{}=\"{}\"", name, escaped(content)));
    }
    text_ += fmt::format("berth_{}{{{}}} {}\n", name_, fmt::join(parts, ","), value);
  }
  std::string take() { return std::move(text_); }

 private:
  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '\n') {
        out += "\\n";
      } else if (c == '"' || c == '\\') {
        (out += '\\') += c;
      } else {
        out += c;
      }
    }
    return out;
  }

  std::string text_;
  std::string name_;
};

}  // namespace

HttpResponse show_metrics(const Desk& desk, const DaemonFacts& facts) {
  Page page;
  page.family("jobs", "gauge", "Jobs on record, by state.");
  for (std::size_t i = 0; i < kPhases; ++i) {
    page.sample({{"state", phase_name(static_cast<JobPhase>(i))}},
                static_cast<double>(desk.store.jobs().counts()[i]));
  }
  page.family("attempts_started_total", "counter", "Attempts that this daemon has started.");
  page.sample(static_cast<double>(desk.counters.started));
  page.family("jobs_ended_total", "counter", "Jobs that have ended under this daemon, by outcome.");
  for (std::size_t i = 0; i < kPhases; ++i) {
    if (const auto phase = static_cast<JobPhase>(i); !is_live(phase)) {
      page.sample({{"outcome", phase_name(phase)}}, static_cast<double>(desk.counters.ended[i]));
    }
  }
  page.family("scheduler_paused", "gauge", "1 while nothing is started.");
  page.sample(desk.scheduler().paused() ? 1 : 0);
  page.family("event_listeners", "gauge", "Clients that listen to events.");
  page.sample(static_cast<double>(desk.events.listeners()));
  page.family("resident_memory_bytes", "gauge", "Memory of the daemon itself.");
  page.sample(static_cast<double>(resident_bytes()));
  page.family("turn_longest_seconds", "gauge",
              "The longest turn of the daemon's loop: for that long, no client was served.");
  page.sample(to_seconds(facts.watchdog.longest().length));
  page.family("turn_longest_lately_seconds", "gauge", "The same for the last minute.");
  page.sample(to_seconds(facts.watchdog.longest_lately()));
  page.family("turns_slow_total", "counter", "Turns that took a second or more.");
  page.sample(static_cast<double>(facts.watchdog.slow_turns()));
  const Budgets& budgets = facts.budgets;
  const auto per_kind = [&](std::string_view name, std::string_view help, Good good) {
    const std::size_t strangers = budgets.used(Budgets::kStrangers, good);
    const std::size_t others = budgets.used_by_others(good);
    page.family(name, "gauge", help);
    page.sample({{"of", "owner"}}, static_cast<double>(budgets.used_by_all(good) - others));
    page.sample({{"of", "users"}}, static_cast<double>(others - strangers));
    page.sample({{"of", "strangers"}}, static_cast<double>(strangers));
  };
  per_kind("connections", "Open connections.", Good::Connections);
  per_kind("event_streams", "Open event streams.", Good::Streams);
  per_kind("request_bytes", "Bytes of requests that are not answered.", Good::RequestBytes);
  per_kind("answer_bytes", "Bytes of answers that are not read.", Good::AnswerBytes);

  const auto per_device = [&](std::string_view name, std::string_view help, auto value) {
    page.family(name, "gauge", help);
    for (std::uint32_t i = 0; i < desk.driver.devices().states().size(); ++i) {
      if (const std::optional<double> known = value(i);
          known && !desk.driver.devices().states()[i].removed) {
        // A name may stand for several slots (--gpus 0,0), and a series must not come twice.
        const std::string slot = std::to_string(i);
        page.sample({{"device", desk.scheduler().devices()[DeviceId{i}].spec.name}, {"slot", slot}},
                    *known);
      }
    }
  };
  using Value = std::optional<double>;
  const auto slot = [&](std::uint32_t i) -> const DeviceSlot& {
    return desk.scheduler().devices()[DeviceId{i}];
  };
  const auto sample = [&](std::uint32_t i) { return desk.driver.devices().states()[i].sample; };
  per_device("device_up", "1 when new jobs may start on the device.",
             [&](std::uint32_t i) { return Value(slot(i).health == DeviceHealth::Ok ? 1 : 0); });
  per_device("device_leases", "Jobs that hold the device.",
             [&](std::uint32_t i) { return Value(static_cast<double>(slot(i).leases.size())); });
  per_device("device_memory_bytes", "Memory of the device.", [&](std::uint32_t i) {
    return Value(static_cast<double>(slot(i).spec.memory.count));
  });
  per_device("device_foreign_memory_bytes", "Memory held by processes that berth did not start.",
             [&](std::uint32_t i) { return Value(static_cast<double>(slot(i).foreign.count)); });
  per_device("device_memory_used_bytes", "Memory in use, by anyone.", [&](std::uint32_t i) {
    const auto now = sample(i);
    return now && now->used ? Value(static_cast<double>(now->used->count)) : Value();
  });
  per_device("device_utilization_ratio", "Share of the time in which the device was busy.",
             [&](std::uint32_t i) {
               const auto now = sample(i);
               return now && now->utilization ? Value(*now->utilization / 100.0) : Value();
             });
  per_device("device_power_watts", "Power draw.", [&](std::uint32_t i) {
    const auto now = sample(i);
    return now ? now->power : Value();
  });
  per_device("device_temperature_celsius", "Temperature.", [&](std::uint32_t i) {
    const auto now = sample(i);
    return now && now->temperature ? Value(*now->temperature) : Value();
  });
  return {200, "text/plain; version=0.0.4; charset=utf-8", page.take(), {}};
}

}  // namespace berth
