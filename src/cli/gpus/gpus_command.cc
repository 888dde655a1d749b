// `berth gpus`: which devices there are, what goes on on them, and which the daemon may use.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "api/http_text.h"
#include "cli/commands.h"
#include "cli/gpus/cluster_devices.h"
#include "cli/gpus/daemon_devices.h"
#include "cli/gpus/gpus_view.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/gpus_option.h"
#include "cli/toolkit/watch.h"
#include "gpu/device_group.h"
#include "gpu/devices.h"

namespace berth {
namespace {

struct GpusOptions {
  std::string gpus;
  std::string on;  // a cluster; empty: this machine
  bool json = false;
  GpusShown shown;
  bool of_daemon = false;  // those of the daemon, and what it does with them
  std::optional<Duration> watch;
};

std::string screen(Devices& devices, const GpusOptions& options) {
  const std::vector<DeviceSample> samples = devices.sample();
  const GpusView view{devices.list(), samples,
                      options.of_daemon ? ask_daemon_devices() : std::nullopt};
  return options.json ? gpus_json(view, options.watch.has_value())
                      : gpus_table(view, options.shown, describe_terminal(STDOUT_FILENO));
}

/// add, remove, drain or undrain: changes of the daemon's devices.
int change_main(std::string_view verb, Words words) {
  constexpr std::string_view kName = "berth gpus";
  std::string names;
  bool json = false;
  Args args(fmt::format("berth gpus {} NAME…", verb),
            "add: the daemon may use these devices, too (again, if they were removed).\n"
            "remove: it forgets them; jobs that run on them are left to end.\n"
            "drain: jobs that run stay, nothing new starts there, until undrain.");
  args.positional("NAME…",
                  verb == "add"
                      ? "devices, as --gpus names them (trust:0,1: though no driver shows them)"
                      : "devices, as --gpus names them",
                  1, 1000, [&](std::string_view word) -> Result<void> {
                    names += (names.empty() ? "" : ",") + std::string(word);
                    return {};
                  });
  args.flag("--json", json, "print JSON");
  args.example(fmt::format("berth gpus {} 0 1", verb));
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::string> answer =
      ask_daemon("POST", fmt::format("/v1/devices/{}?names={}", verb, percent_encode(names)));
  if (!answer) {
    return report(kName, answer.error());
  }
  if (json) {
    fmt::print("{}\n", *answer);
  }
  return 0;
}

/// Those that --gpus names; without it those of the daemon, where one runs.
Result<std::unique_ptr<Devices>> choose_devices(Words words, GpusOptions& options) {
  const bool named = std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word == "--gpus" || word.starts_with("--gpus=");
  });
  const std::optional<DaemonDevices> known = named ? std::nullopt : ask_daemon_devices();
  if (!known) {
    return open_devices(options.gpus);
  }
  auto group = std::make_unique<DeviceGroup>();
  for (const std::string& source : known->sources) {
    Result<std::unique_ptr<Devices>> part = open_devices(source);
    if (part) {
      group->add(std::move(*part));
    } else {
      (void)report("berth gpus", part.error());  // the others can be shown all the same
    }
  }
  options.of_daemon = true;
  return Result<std::unique_ptr<Devices>>(std::move(group));
}

}  // namespace

int gpus_main(Words words) {
  for (const std::string_view verb : {"add", "remove", "drain", "undrain"}) {
    if (!words.empty() && words[0] == verb) {
      return change_main(verb, words.subspan(1));
    }
  }
  if (!words.empty() && words[0] == "list") {
    words = words.subspan(1);
  }
  GpusOptions options;
  Args args(
      "berth gpus [list | add | remove | drain | undrain] [options]",
      "Shows the devices that jobs can run on, and their use: those of the daemon, where one\n"
      "runs. The other verbs tell it which to use (berth gpus drain --help).");
  add_gpus_option(args, options.gpus);
  args.value("--on", "CLUSTER", "show the devices of a cluster instead, and who holds them",
             options.on);
  args.flag("-p,--processes", options.shown.processes, "also list the processes that use them");
  args.flag("--wide", options.shown.wide, "also show UUIDs, NUMA nodes, islands and processes");
  args.flag("--json", options.json, "print JSON; with --watch, one document per line");
  add_watch_option(args, options.watch, "1s");
  args.example("berth gpus --watch");
  args.example("berth gpus drain 0");
  args.example("berth gpus --on slurm");
  args.example("berth gpus --gpus sim:4 --json");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth gpus", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (!options.on.empty() && options.on != "local") {
    const Result<std::string> shown =
        cluster_devices(options.on, options.json, describe_terminal(STDOUT_FILENO));
    if (!shown) {
      return report("berth gpus", shown.error());
    }
    std::fputs(shown->c_str(), stdout);
    return 0;
  }
  const Result<std::unique_ptr<Devices>> devices = choose_devices(words, options);
  if (!devices) {
    return report("berth gpus", devices.error());
  }
  if (!options.watch) {
    std::fputs(screen(**devices, options).c_str(), stdout);
    return 0;
  }
  const Result<int> code = watch_screen(*options.watch, !options.json, [&] {
    return Result<std::string>(screen(**devices, options));
  });
  return code ? *code : report("berth gpus", code.error());
}

}  // namespace berth
