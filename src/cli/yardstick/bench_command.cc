#include "cli/yardstick/bench_command.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/paths.h"
#include "cli/toolkit/args.h"
#include "cli/yardstick/figures.h"

namespace berth {
namespace {

/// On the disk that has the user's queue, because that is the disk to be measured.
Result<std::string> make_bench_folder() {
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  if (const Result<void> made = make_folder(paths->state); !made) {
    return Failure(made.error());
  }
  std::string name = paths->state + "/bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return fail_errno(fmt::format("cannot create a folder in {}", paths->state), errno);
  }
  return name;
}

}  // namespace

int bench_main(Words words) {
  bool json = false;
  Args args(
      "berth bench [options]",
      "Measures in about ten seconds what the daemon costs on this machine, beside what the\n"
      "machine does without it: jobs that do nothing, the gap between two jobs, submissions,\n"
      "and the disk. It has a daemon and a queue of its own; close other programs first.");
  args.flag("--json", json, "print the figures as JSON");
  args.example("berth bench");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report("berth bench", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::string> folder = make_bench_folder();
  if (!folder) {
    return report("berth bench", folder.error());
  }
  // The programs that it runs end by an interrupt. It then ends its daemon.
  struct sigaction ignore {};
  ignore.sa_handler = [](int) {};
  ::sigaction(SIGINT, &ignore, nullptr);
  ::sigaction(SIGTERM, &ignore, nullptr);
  const Result<BenchFigures> figures = measure(*folder);
  std::error_code ignored;
  std::filesystem::remove_all(*folder, ignored);
  if (!figures) {
    return report("berth bench", figures.error());
  }
  fmt::print("{}{}", json ? to_json(*figures) : describe(*figures), json ? "\n" : "");
  return 0;
}

}  // namespace berth
