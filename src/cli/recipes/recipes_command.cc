// berth recipes: what was learned from the jobs of this home, and what is to be forgotten of it.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/fd.h"
#include "base/paths.h"
#include "cli/commands.h"
#include "cli/recipes/evaluation.h"
#include "cli/recipes/recipes_view.h"
#include "cli/recipes/runs_file.h"
#include "cli/recipes/trial_file.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/question.h"
#include "cli/toolkit/risk_option.h"
#include "memory/peak_rewrite.h"

namespace berth {
namespace {

constexpr std::string_view kName = "berth recipes";

struct RecipesCommand {
  std::vector<std::string> words;  // the verb and what follows
  std::optional<std::string> project;
  std::optional<double> risk;
  bool all = false;
  bool yes = false;
  bool json = false;
  std::string peaks;  // the file

  double oom_risk() const { return risk.value_or(kUsualOomRisk); }
};

Args arguments(RecipesCommand& command) {
  Args args(
      "berth recipes [list | show | forget | export | import | evaluate] [WORDS…] [options]",
      "What berth has learned of the jobs in this home, by recipe: project and command with\n"
      "# for each number. `list` (the default) has a line for each: its runs, a typical\n"
      "peak, what the newest job would claim now, and whether other numbers are known, too.\n"
      "`show RECIPE` tells more. `forget` drops runs: those of recipes, of a --project, or\n"
      "--all; a daemon and runs under way notice. `export [FILE]` writes all runs as CSV,\n"
      "`import FILE` takes them in as older ones. `evaluate FILE.csv` replays jobs of the\n"
      "past, in order: each is asked for before it is told; beside berth stand two simple\n"
      "rules. A file has the columns command and peak_mib, and may have project and seconds.");
  args.positional("VERB [WORDS…]",
                  "list, show RECIPE, forget RECIPE…, export [FILE], import FILE or\n"
                  "evaluate FILE.csv; a RECIPE is its id, the beginning of that, or a command",
                  0, 1000, [&command](std::string_view word) -> Result<void> {
                    command.words.emplace_back(word);
                    return {};
                  });
  args.value("--project", "NAME", "list, forget, export: only recipes of this project",
             command.project);
  add_risk_option(args,
                  "list, show, evaluate: how many jobs may use more than they claim\n"
                  "(default: 1%)",
                  command.risk);
  args.flag("--all", command.all, "forget: everything");
  args.flag("-y,--yes", command.yes, "forget: do not ask");
  args.flag("--json", command.json, "list, show, evaluate: print JSON");
  args.example("berth recipes");
  args.example("berth recipes show 3f2a");
  args.example("berth recipes forget --project vision");
  args.example("berth recipes export runs.csv");
  args.example("berth recipes evaluate jobs.csv --oom-risk 5% --json");
  return args;
}

Result<void> expect_words(const RecipesCommand& command, std::size_t least, std::size_t most,
                          std::string_view usage) {
  if (command.words.size() - 1 < least || command.words.size() - 1 > most) {
    return fail(ErrorCode::Usage, fmt::format("say berth recipes {}", usage));
  }
  return {};
}

Result<LearnedRecipes> read_learned(const RecipesCommand& command) {
  Result<std::vector<PastRun>> runs = read_peaks(command.peaks);
  if (!runs) {
    return Failure(runs.error());
  }
  return LearnedRecipes(std::move(*runs), command.oom_risk());
}

/// All recipes, or those of the project.
std::vector<const LearnedRecipe*> of_project(const LearnedRecipes& learned,
                                             const std::optional<std::string>& project) {
  std::vector<const LearnedRecipe*> chosen;
  for (const LearnedRecipe& recipe : learned.all()) {
    if (!project || recipe.project == *project) {
      chosen.push_back(&recipe);
    }
  }
  return chosen;
}

Result<void> list_recipes(const RecipesCommand& command) {
  const Result<LearnedRecipes> learned = read_learned(command);
  if (!learned) {
    return Failure(learned.error());
  }
  const std::vector<const LearnedRecipe*> chosen = of_project(*learned, command.project);
  if (command.json) {
    fmt::print("{}", recipes_json(*learned, chosen));
  } else if (chosen.empty()) {
    fmt::print("nothing is learned yet: berth learns from GPU jobs that end well\n");
  } else {
    fmt::print("{}", recipes_table(*learned, chosen, describe_terminal(STDOUT_FILENO)));
  }
  return {};
}

Result<void> show_recipe(const RecipesCommand& command) {
  if (Result<void> right = expect_words(command, 1, 1, "show RECIPE"); !right) {
    return right;
  }
  const Result<LearnedRecipes> learned = read_learned(command);
  if (!learned) {
    return Failure(learned.error());
  }
  const Result<const LearnedRecipe*> recipe = learned->find(command.words[1]);
  if (!recipe) {
    return Failure(recipe.error());
  }
  fmt::print("{}", command.json
                       ? recipes_json(*learned, std::span(&*recipe, 1))
                       : recipe_text(*learned, **recipe, describe_terminal(STDOUT_FILENO)));
  return {};
}

/// The keys of what is to be forgotten.
Result<std::set<std::string>> keys_to_forget(const RecipesCommand& command,
                                             const LearnedRecipes& learned) {
  const bool named = command.words.size() > 1;
  if ((named ? 1 : 0) + (command.project ? 1 : 0) + (command.all ? 1 : 0) != 1) {
    return fail(ErrorCode::Usage,
                "name what to forget: berth recipes forget RECIPE, --project NAME or --all");
  }
  std::set<std::string> keys;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const Result<const LearnedRecipe*> recipe = learned.find(command.words[i]);
    if (!recipe) {
      return Failure(recipe.error());
    }
    keys.insert((*recipe)->key());
  }
  if (!named) {
    for (const LearnedRecipe* recipe : of_project(learned, command.project)) {
      keys.insert(recipe->key());
    }
  }
  return keys;
}

bool agreed(const RecipesCommand& command, std::size_t count) {
  return command.yes || count <= 1 || !can_ask() ||
         is_agreed(fmt::format("forget what was learned of {} recipes?", count));
}

Result<void> forget_recipes(const RecipesCommand& command) {
  const Result<LearnedRecipes> learned = read_learned(command);
  if (!learned) {
    return Failure(learned.error());
  }
  const Result<std::set<std::string>> keys = keys_to_forget(command, *learned);
  if (!keys) {
    return Failure(keys.error());
  }
  if (!agreed(command, keys->size())) {
    return fail(ErrorCode::Refused, "nothing was forgotten");
  }
  std::size_t dropped = 0;
  if (!keys->empty()) {
    Result<void> done = rewrite_peaks(command.peaks, [&](std::vector<PastRun>& runs) {
      dropped =
          std::erase_if(runs, [&](const PastRun& run) { return keys->contains(run.recipe.key); });
    });
    if (!done) {
      return done;
    }
  }
  fmt::print("forgot {} {} of {} {}\n", dropped, dropped == 1 ? "run" : "runs", keys->size(),
             keys->size() == 1 ? "recipe" : "recipes");
  return {};
}

Result<void> export_runs(const RecipesCommand& command) {
  if (Result<void> right = expect_words(command, 0, 1, "export [FILE]"); !right) {
    return right;
  }
  Result<std::vector<PastRun>> runs = read_peaks(command.peaks);
  if (!runs) {
    return Failure(runs.error());
  }
  if (command.project) {
    std::erase_if(*runs, [&](const PastRun& run) {
      return !run.recipe.key.starts_with(*command.project + "\n");
    });
  }
  const std::string text = runs_csv(*runs);
  if (command.words.size() == 1 || command.words[1] == "-") {
    fmt::print("{}", text);
    return {};
  }
  const std::string& path = command.words[1];
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return fail_errno(fmt::format("cannot write {}", path), errno);
  }
  return {};
}

Result<void> import_runs(const RecipesCommand& command) {
  if (Result<void> right = expect_words(command, 1, 1, "import FILE"); !right) {
    return right;
  }
  const Result<std::vector<TrialJob>> jobs = read_trial(command.words[1]);
  if (!jobs) {
    return Failure(jobs.error());
  }
  std::size_t fresh = 0;
  Result<void> done = rewrite_peaks(
      command.peaks, [&](std::vector<PastRun>& runs) { fresh = merge_runs(runs, *jobs); });
  if (done) {
    fmt::print("took in {} of {} runs; {} known already\n", fresh, jobs->size(),
               fresh + 1 == jobs->size() ? "1 was" : fmt::format("{} were", jobs->size() - fresh));
  }
  return done;
}

Result<void> carry_out(RecipesCommand& command) {
  const Result<Paths> paths = find_paths();
  if (!paths) {
    return Failure(paths.error());
  }
  command.peaks = paths->state + "/peaks";
  const std::string verb = command.words.empty() ? "list" : command.words[0];
  if (verb == "list") {
    return list_recipes(command);
  }
  if (verb == "show") {
    return show_recipe(command);
  }
  if (verb == "forget") {
    return forget_recipes(command);
  }
  if (verb == "export") {
    return export_runs(command);
  }
  if (verb == "import") {
    return import_runs(command);
  }
  if (verb == "evaluate") {
    Result<void> right = expect_words(command, 1, 1, "evaluate FILE.csv");
    return right ? evaluate_recipes(command.words[1], command.oom_risk(), command.json) : right;
  }
  return fail(ErrorCode::Usage, fmt::format("unknown verb '{}' (--help lists them)", verb));
}

}  // namespace

int recipes_main(Words words) {
  RecipesCommand command;
  const Result<bool> parsed = arguments(command).parse(words);
  if (!parsed) {
    return report(kName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<void> done = carry_out(command);
  return done ? 0 : report(kName, done.error());
}

}  // namespace berth
