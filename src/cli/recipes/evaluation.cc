#include "cli/recipes/evaluation.h"

#include <fmt/format.h>
#include <unistd.h>

#include "api/json_writer.h"
#include "cli/recipes/trial_file.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string as_table(const LearningTrial& trial) {
  Table table;
  table.column("CLAIMS BY");
  for (const char* header : {"CLAIMED", "OUT OF MEMORY", "WASTED"}) {
    table.column(header, Align::Right);
  }
  const auto row = [&](const char* name, const ClaimFigures& figures) {
    table.row({name, percent(figures.share_claimed()), percent(figures.share_out_of_memory()),
               percent(figures.share_wasted())});
  };
  row("berth", trial.learned);
  row("exact matching", trial.exact);
  row("fixed margin", trial.margin);
  const Terminal terminal = describe_terminal(STDOUT_FILENO);
  std::string text = table.render(terminal.columns, terminal.colour);
  if (const std::optional<LengthFigures>& lengths = trial.lengths) {
    text += fmt::format("\n{} of {} lengths were within nine tenths of their recipe's past.\n",
                        lengths->within, lengths->expected);
  }
  return text;
}

void write_figures(JsonWriter& json, std::string_view name, const ClaimFigures& figures) {
  json.object(name, [&] {
    json.field("claimed", figures.claimed);
    json.field("out_of_memory", figures.out_of_memory);
    json.field("claimed_bytes", figures.claims.count);
    json.field("wasted_bytes", figures.wasted.count);
  });
}

std::string as_json(const LearningTrial& trial, double risk) {
  JsonWriter json;
  json.object([&] {
    json.field("jobs", trial.learned.jobs);
    json.field("oom_risk", risk);
    write_figures(json, "berth", trial.learned);
    write_figures(json, "exact_matching", trial.exact);
    write_figures(json, "fixed_margin", trial.margin);
    if (trial.lengths) {
      json.object("lengths", [&] {
        json.field("expected", trial.lengths->expected);
        json.field("within", trial.lengths->within);
      });
    }
  });
  return json.take() + "\n";
}

}  // namespace

Result<void> evaluate_recipes(const std::string& path, double risk, bool json) {
  Result<std::vector<TrialJob>> jobs = read_trial(path);
  if (!jobs) {
    return Failure(jobs.error());
  }
  std::erase_if(*jobs, [](const TrialJob& job) { return job.peak == Bytes{}; });
  const LearningTrial trial = try_learning(*jobs, risk);
  fmt::print("{}", json ? as_json(trial, risk) : as_table(trial));
  return {};
}

}  // namespace berth
