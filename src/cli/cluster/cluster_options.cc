#include "cli/cluster/cluster_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/toolkit/question.h"
#include "cluster/conf_texts.h"
#include "cluster/look_at_box.h"
#include "gpu/devices.h"

namespace berth {

Result<void> need_root(std::string_view verb) {
  if (::geteuid() != 0) {
    return fail(
        ErrorCode::Refused,
        fmt::format("this changes the machine, so it needs root: sudo berth cluster {}", verb));
  }
  return {};
}

Result<bool> agree(const std::vector<std::string>& plan, bool yes) {
  fmt::print(stderr, "berth cluster will:\n");
  for (const std::string& step : plan) {
    fmt::print(stderr, "  - {}\n", step);
  }
  if (yes) {
    return true;
  }
  if (!can_ask()) {
    return fail(ErrorCode::Refused, "nobody can be asked here, so nothing was done: add --yes");
  }
  return is_agreed("go on?");
}

void print_step(std::string_view sentence) {
  fmt::print(stderr, "{}: {}\n", kClusterName, sentence);
}

Result<BoxFacts> facts_of_box(const std::string& gpus, const Places& places) {
  BoxFacts facts;
  facts.name = short_host_name();
  if (const Result<void> fine = check_node_name(facts.name); !fine) {
    return Failure(fine.error());
  }
  const Result<std::unique_ptr<Devices>> devices = open_devices(gpus == "auto" ? "all" : gpus);
  if (!devices) {
    // A head or a box for CPU jobs has none, and must say so.
    return devices.error().code == ErrorCode::NotFound
               ? fail(ErrorCode::NotFound, fmt::format("{}; or --gpus none for a box without GPUs",
                                                       devices.error().message))
               : Failure(devices.error());
  }
  Result<std::vector<GpuFile>> files = gpu_files((*devices)->list(), places);
  if (!files) {
    return Failure(files.error());
  }
  facts.gpus = std::move(*files);
  facts.cgroups = look_for_cgroups(places);
  facts.systemd = has_systemd(places);
  if (facts.cgroups == Cgroups::None) {
    return fail(ErrorCode::Unavailable,
                "there are no cgroups below /sys/fs/cgroup, and slurmd does not start without "
                "them: mount -t cgroup2 none /sys/fs/cgroup");
  }
  return facts;
}

Result<void> install_and_ask(Commands& commands, const std::vector<std::string>& missing,
                             BoxFacts& facts) {
  if (!missing.empty()) {
    if (Result<void> installed = install_packages(commands, missing); !installed) {
      return installed;
    }
    print_step("installed the packages");
  }
  return ask_slurmd(commands, facts);
}

void print_start_lines(const std::vector<std::string>& lines) {
  if (!lines.empty()) {
    fmt::print("There is no systemd here. To start the daemons again, after a boot:\n  {}\n",
               fmt::join(lines, "\n  "));
  }
}

int run_verb(Args args, Words words, const std::function<Result<int>()>& verb) {
  const Result<bool> parsed = args.parse(words);
  if (!parsed || !*parsed) {
    return parsed ? 0 : report(kClusterName, parsed.error());
  }
  const Result<int> code = verb();
  return code ? *code : report(kClusterName, code.error());
}

std::string gpu_words(const BoxFacts& facts) {
  return facts.gpus.empty()
             ? "no GPU"
             : fmt::format("{} {} ({})", facts.gpus.size(), facts.gpus.size() == 1 ? "GPU" : "GPUs",
                           gres_of(facts.gpus));
}

}  // namespace berth
