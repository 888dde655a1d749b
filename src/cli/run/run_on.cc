#include "cli/run/run_on.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/toolkit/args.h"
#include "cli/toolkit/job_options.h"

namespace berth {
namespace {

/// The value of --on; empty: it is not there.
std::string_view target_in(Words words) {
  constexpr std::string_view kOn = "--on";
  std::string_view target;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] == kOn && i + 1 < words.size()) {
      target = words[i + 1];
    } else if (words[i].starts_with("--on=")) {
      target = words[i].substr(kOn.size() + 1);
    }
  }
  return target;
}

}  // namespace

std::optional<int> run_on_target(Words words) {
  const std::string_view target = target_in(words);
  if (target.empty() || target == "local") {
    return std::nullopt;
  }
  const auto dashes =
      static_cast<std::size_t>(std::find(words.begin(), words.end(), "--") - words.begin());
  JobOptions options;
  std::string file = "-";
  Args args("berth run --on TARGET [options] [FILE | -- COMMAND…]",
            "Queues the commands for a cluster, and waits until all have ended. The options are\n"
            "those of berth submit.");
  args.positional("FILE", "commands, one per line; - is standard input (the default)", 0, 1,
                  [&](std::string_view word) -> Result<void> {
                    file = word;
                    return {};
                  });
  options.declare(args);
  args.example("berth run --on slurm jobs.txt");
  args.example("berth run --on slurm --gpus 2 < commands.txt");
  const Result<bool> parsed = args.parse(words.first(dashes));
  if (!parsed) {
    return report("berth run", parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  std::vector<std::string_view> passed = {"--wait"};
  std::copy_if(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(dashes),
               std::back_inserter(passed), [&](std::string_view word) { return word != file; });
  if (dashes == words.size()) {
    passed.insert(passed.end(), {"--file", file});
  } else {
    passed.insert(passed.end(), words.begin() + static_cast<std::ptrdiff_t>(dashes), words.end());
  }
  return submit_main(passed);
}

}  // namespace berth
