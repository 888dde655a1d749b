#include "cli/recipes/recipes_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/json_writer.h"
#include "cli/toolkit/table.h"

namespace berth {
namespace {

constexpr std::size_t kRunsShown = 10;

std::string or_dash(std::optional<Bytes> size) { return size ? format_bytes(*size) : "-"; }

std::string or_dash(std::optional<Duration> length) {
  return length ? format_duration(*length) : "-";
}

/// What the newest job would claim if it came again.
std::optional<Bytes> newest_claim(const LearnedRecipes& learned, const LearnedRecipe& recipe) {
  return learned.book().claim(recipe.runs.back().recipe);
}

std::string more_runs(int count) {
  return fmt::format("{} more {}", count, count == 1 ? "run" : "runs");
}

/// Whether a job with other numbers gets a claim.
std::string how_sure(const LearnedRecipes& learned, const LearnedRecipe& recipe) {
  if (!recipe.typical_peak()) {
    return "-";
  }
  const PeakEstimate other = learned.for_other_numbers(recipe);
  return other.upper ? "yes" : more_runs(other.more_runs);
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::string numbers_of(const PastRun& run) {
  std::vector<std::string> words;
  for (const double number : run.recipe.numbers) {
    words.push_back(fmt::format("{}", number));
  }
  return joined(words, " ");
}

std::string runs_table(const LearnedRecipes& learned, const LearnedRecipe& recipe,
                       const Terminal& terminal) {
  Table table;
  table.yielding_column("NUMBERS");
  table.column("PEAK", Align::Right);
  table.column("CLAIM NOW", Align::Right);
  table.column("RAN", Align::Right);
  const std::size_t first = recipe.runs.size() - std::min(recipe.runs.size(), kRunsShown);
  for (std::size_t i = recipe.runs.size(); i-- > first;) {
    const PastRun& run = recipe.runs[i];
    table.row({numbers_of(run),
               or_dash(run.peak > Bytes{} ? std::optional(run.peak) : std::nullopt),
               or_dash(learned.book().claim(run.recipe)), or_dash(run.length)});
  }
  return table.render(terminal.columns, terminal.colour);
}

}  // namespace

std::string recipes_table(const LearnedRecipes& learned, RecipeChoice chosen,
                          const Terminal& terminal) {
  Table table;
  table.column("RECIPE");
  table.optional_column("PROJECT");
  table.yielding_column("COMMAND");
  table.column("RUNS", Align::Right);
  table.column("PEAK", Align::Right);
  table.column("CLAIM", Align::Right);
  table.column("LENGTH", Align::Right);
  table.column("KNOWN");
  table.optional_column("GROWS WITH");
  for (const LearnedRecipe* recipe : chosen) {
    table.row({recipe->id, printable(recipe->project), printable(recipe->command),
               std::to_string(recipe->runs.size()), or_dash(recipe->typical_peak()),
               or_dash(newest_claim(learned, *recipe)), or_dash(recipe->typical_length()),
               how_sure(learned, *recipe), printable(joined(learned.what_matters(*recipe), ", "))});
  }
  return table.render(terminal.columns, terminal.colour);
}

std::string recipe_text(const LearnedRecipes& learned, const LearnedRecipe& recipe,
                        const Terminal& terminal) {
  constexpr std::size_t kLabel = 10;
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value) {
    const std::size_t width = terminal.columns > kLabel ? terminal.columns - kLabel : 0;
    text +=
        fmt::format("{:<9} {}\n", label, indent_lines(wrap_words(printable(value), width), kLabel));
  };
  line("recipe", recipe.id);
  if (!recipe.project.empty()) {
    line("project", recipe.project);
  }
  line("command", recipe.command);
  line("runs", std::to_string(recipe.runs.size()));
  line("peak", "typically " + or_dash(recipe.typical_peak()));
  line("length", "typically " + or_dash(recipe.typical_length()));
  const std::vector<std::string> matters = learned.what_matters(recipe);
  if (recipe.typical_peak()) {
    line("memory", matters.empty() ? "no number is known to matter"
                                   : "grows with " + joined(matters, ", and with "));
    const PeakEstimate other = learned.for_other_numbers(recipe);
    line("claims", other.upper ? "known, also for numbers between those that have run"
                               : fmt::format("known for numbers that have run; others get a whole "
                                             "GPU until about {} have ended",
                                             more_runs(other.more_runs)));
  }
  return text + "\n" + runs_table(learned, recipe, terminal);
}

std::string recipes_json(const LearnedRecipes& learned, RecipeChoice chosen) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("oom_risk", learned.book().risk());
    json.array("recipes", [&] {
      for (const LearnedRecipe* recipe : chosen) {
        const PeakEstimate other = learned.for_other_numbers(*recipe);
        const std::optional<Duration> length = recipe->typical_length();
        json.object([&] {
          json.field("id", recipe->id);
          json.field("project", recipe->project);
          json.field("command", recipe->command);
          json.field("runs", recipe->runs.size());
          json.field("typical_peak_bytes", recipe->typical_peak());
          json.field("claim_bytes", newest_claim(learned, *recipe));
          json.field("known", other.upper.has_value());
          json.field("more_runs", other.more_runs);
          json.field("grows_with", learned.what_matters(*recipe));
          json.field("typical_seconds",
                     length ? std::optional(to_seconds(*length)) : std::optional<double>());
        });
      }
    });
  });
  return json.take() + "\n";
}

}  // namespace berth
