// berth sim --journal: replays what a daemon's scheduler was told.
#include <fmt/format.h>

#include <optional>

#include "api/json_writer.h"
#include "base/paths.h"
#include "cli/commands.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/args.h"
#include "replay/replay.h"

namespace berth {
namespace {

constexpr std::string_view kJournalName = "berth sim --journal";

void print_replay_json(const Replay& replay) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("skipped", replay.skipped);
    json.field("entries", replay.entries);
    json.field("decisions", replay.decisions);
    json.array("starts", [&] {
      for (const StartRecord& start : replay.starts) {
        json.object([&] {
          json.field("job", start.job);
          json.field("attempt", start.attempt);
          json.field("at", to_seconds(start.at.time_since_epoch()));
          json.field("gpus", start.devices);
        });
      }
    });
    json.field("forgotten", replay.forgotten);
    json.field("differences", replay.differences);
  });
  fmt::print("{}\n", json.take());
}

}  // namespace

int sim_journal_main(std::span<const std::string_view> words) {
  std::optional<std::string> file;
  bool json = false;
  Args args("berth sim --journal [FILE] [--json]",
            "Tells a fresh scheduler all that the daemon's scheduler was told, as its journal has\n"
            "it, and holds what it decides against what the daemon did. Exit code 1: they differ.\n"
            "A daemon that runs keeps its database to itself: stop it first, or name a copy.");
  args.positional("FILE", "the database (default: berth.db of this user's daemon)", 0, 1,
                  [&](std::string_view word) -> Result<void> {
                    file = word;
                    return {};
                  });
  args.flag("--json", json, "print JSON, with every start");
  args.example("berth daemon stop && berth sim --journal");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kJournalName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  if (!file) {
    const Result<Paths> paths = find_paths();
    if (!paths) {
      return report(kJournalName, paths.error());
    }
    file = paths->state + "/berth.db";
  }
  const Result<Replay> replay = replay_journal(*file);
  if (!replay) {
    return report(kJournalName, replay.error());
  }
  if (json) {
    print_replay_json(*replay);
  } else {
    fmt::print("{} entries, {} decisions, {} starts: {}\n", replay->entries, replay->decisions,
               replay->starts.size(),
               replay->differences.empty()
                   ? "all as the daemon decided"
                   : fmt::format("{} differences", replay->differences.size()));
    if (replay->skipped > 0) {
      fmt::print("{} earlier entries were skipped: they are before the first checkpoint\n",
                 replay->skipped);
    }
    if (replay->forgotten > 0) {
      fmt::print("{} starts are of jobs that were forgotten: nothing is on record of them\n",
                 replay->forgotten);
    }
    for (const std::string& difference : replay->differences) {
      fmt::print("{}\n", difference);
    }
  }
  return replay->differences.empty() ? 0 : 1;
}

}  // namespace berth
