// `berth record`: the use of devices, while a command runs or until interrupted.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "api/json_writer.h"
#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/gpus_option.h"
#include "record/record_observer.h"
#include "record/record_session.h"

namespace berth {
namespace {

constexpr std::string_view kRecordName = "berth record";

struct RecordCommand {
  std::string gpus;
  RecordFiles files;
  Duration interval = std::chrono::seconds(1);
  bool no_page = false;
  bool json = false;
  bool quiet = false;
};

Args::Setter picture(std::optional<std::string>& out) {
  return [&out](std::string_view path) -> Result<void> {
    out = path;
    return check_picture(path);
  };
}

Args record_args(RecordCommand& command) {
  Args args("berth record [options] [-- COMMAND…]",
            "Reads all devices once a second, while COMMAND runs or until interrupted, and writes\n"
            "the lines of nvidia-smi --query-gpu=index,timestamp,name,utilization.gpu,\n"
            "utilization.memory,power.draw --format=csv. At the end it writes one page with use,\n"
            "power and energy over time, and which processes were on which device. The exit code\n"
            "is the command's. Nothing is scheduled: berth run --record does the same for jobs.");
  add_gpus_option(args, command.gpus);
  args.value("--interval", "TIME", "between two readings (default: 1s)", command.interval);
  args.value("--csv", "FILE",
             "where the lines go (default: standard output; with a COMMAND,\n"
             "record-DATE.csv)",
             command.files.csv);
  args.value("--report", "FILE.html", "where the page goes (default: record-DATE.html)",
             command.files.page);
  args.flag("--no-report", command.no_page, "write no page");
  args.value("--charts", "FILE",
             "draw each chart, as .svg or .png: FILE.usage.svg, FILE.power.svg,\n"
             "FILE.energy.svg, FILE.gantt.svg",
             picture(command.files.charts));
  args.value("--gantt", "FILE", "draw who ran where, as .svg or .png",
             picture(command.files.gantt));
  args.flag("--json", command.json, "print the totals as JSON, on one line at the end");
  args.flag("-q,--quiet", command.quiet, "print nothing at the end");
  args.example("berth record -- python train.py");
  args.example("berth record --csv gpu_usage.csv --report usage.html --interval 100ms");
  args.example("berth record --gpus 0,1 --charts usage.png -- make experiment");
  args.example("berth record --gpus sim:2 -- berth run --gpus sim:2 tasks.txt");
  return args;
}

/// "record-20241120-140322"
std::string dated_name() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("record-{:04}{:02}{:02}-{:02}{:02}{:02}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

Result<void> settle(RecordCommand& command, bool runs) {
  constexpr Duration kLeast = std::chrono::milliseconds(10);
  if (command.interval < kLeast) {
    return fail(ErrorCode::Usage, "--interval must be 10ms or more");
  }
  if (command.no_page && command.files.page) {
    return fail(ErrorCode::Usage, "give --report or --no-report, not both");
  }
  const std::string name = dated_name();
  if (!command.files.page && !command.no_page) {
    command.files.page = name + ".html";
  }
  if (!command.files.csv) {
    command.files.csv = runs ? name + ".csv" : "-";
  }
  if (command.json && command.files.csv == "-") {
    return fail(ErrorCode::Usage, "--json needs --csv FILE: the lines have standard output");
  }
  if (command.gpus == "auto") {
    command.gpus = "all";  // as nvidia-smi has it, whatever is hidden from programs
  }
  return {};
}

std::string totals_json(const Recording& recording, const std::vector<std::string>& files,
                        int code) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("exit_code", code);
    json.field("seconds", to_seconds(recording.end() - recording.begin()), 3);
    json.array("devices", [&] {
      for (const DeviceRecord& device : recording.devices()) {
        json.object([&] {
          json.field("name", device.name);
          json.field("model", device.model);
          json.field("readings", device.readings);
          json.field("mean_utilization", device.mean_utilization);
          json.field("mean_memory_utilization", device.mean_memory_busy);
          json.field("mean_power_w", device.mean_watts);
          json.field("peak_power_w", device.peak_watts, 3);
          json.field("energy_j", device.joules);
          json.field("energy_counted", device.counted);
        });
      }
    });
    json.array("spans", [&] {
      for (const Occupation& one : recording.occupations()) {
        json.object([&] {
          json.field("name", recording.names()[one.who]);
          json.field("gpu", recording.slots()[one.device]);
          json.field("from_s", to_seconds(one.from - recording.begin()), 3);
          json.field("to_s", to_seconds(one.to - recording.begin()), 3);
        });
      }
    });
    json.array("files", [&] {
      for (const std::string& file : files) {
        json.value(file);
      }
    });
  });
  return json.take();
}

void print_totals(const Recording& recording, const std::vector<std::string>& files) {
  double joules = 0;
  for (const DeviceRecord& device : recording.devices()) {
    joules += device.joules.value_or(0);
    fmt::print(
        stderr, "{}: GPU {}: use {}, power {}, energy {}\n", kRecordName, device.name,
        device.mean_utilization ? fmt::format("{:.0f} %", *device.mean_utilization) : "unknown",
        device.mean_watts ? fmt::format("{:.1f} W", *device.mean_watts) : "unknown",
        device.joules ? fmt::format("{:.1f} J", *device.joules) : "unknown");
  }
  fmt::print(stderr, "{}: {}, {:.1f} J{}{}\n", kRecordName,
             format_duration(recording.end() - recording.begin()), joules,
             files.empty() ? "" : "; wrote ", fmt::join(files, ", "));
}

Result<int> execute(RecordCommand& command, std::vector<std::string> words) {
  if (const Result<void> settled = settle(command, !words.empty()); !settled) {
    return Failure(settled.error());
  }
  const auto devices = open_devices(command.gpus);
  if (!devices) {
    return Failure(devices.error());
  }
  const std::vector<DeviceInfo>& list = (*devices)->list();
  if (std::all_of(list.begin(), list.end(), [](const DeviceInfo& device) {
        return device.family == DeviceFamily::Trusted;
      })) {
    return fail(ErrorCode::NotFound,
                fmt::format("no driver tells the use of '{}': there is nothing to record; sim:2 "
                            "are simulated devices",
                            command.gpus));
  }
  std::string heading = words.empty() ? "Use of devices" : fmt::format("{}", fmt::join(words, " "));
  auto recorder = Recorder::open(std::move(heading), command.files, list, command.interval);
  if (!recorder) {
    return Failure(recorder.error());
  }
  const Result<int> code =
      RecordSession{**devices, **recorder, command.interval, std::move(words)}.run();
  if (!code) {
    return Failure(code.error());
  }
  const Result<std::vector<std::string>> files = (*recorder)->finish(record_time());
  if (!files) {
    return Failure(files.error());
  }
  if (command.json) {
    fmt::print("{}\n", totals_json((*recorder)->recording(), *files, *code));
  } else if (!command.quiet) {
    print_totals((*recorder)->recording(), *files);
  }
  return *code;
}

}  // namespace

int record_main(Words words) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const auto own = static_cast<std::size_t>(dashes - words.begin());
  RecordCommand command;
  const Result<bool> parsed = record_args(command).parse(words.first(own));
  if (!parsed) {
    return report(kRecordName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  std::vector<std::string> rest;
  if (dashes != words.end()) {
    rest.assign(dashes + 1, words.end());
    if (rest.empty()) {
      return report(kRecordName, Error{ErrorCode::Usage, "the command after -- is missing"});
    }
    if (rest.size() == 1) {
      rest = {"/bin/sh", "-c", rest[0]};  // a line for a shell, as berth run takes it
    }
  }
  const Result<int> code = execute(command, std::move(rest));
  return code ? *code : report(kRecordName, code.error());
}

}  // namespace berth
