// berth recipes evaluate: how well the learner would have done on jobs of the past.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "api/json_writer.h"
#include "base/read_file.h"
#include "cli/commands.h"
#include "cli/recipes/trial_file.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/risk_option.h"
#include "cli/toolkit/table.h"
#include "cli/toolkit/terminal.h"
#include "core/claim_book.h"

namespace berth {
namespace {

constexpr std::string_view kName = "berth recipes";

struct Evaluation {
  std::vector<std::string> words;
  std::optional<double> risk;
  bool json = false;
};

Args arguments(Evaluation& evaluation) {
  Args args(
      "berth recipes evaluate FILE.csv [options]",
      "Replays jobs of the past through the learner of GPU memory, in order: each is asked\n"
      "for before it is told. Prints how many jobs would have had a claim, how many of these\n"
      "would have run out of memory, and how much of what was claimed would have been unused;\n"
      "beside berth stand two simple rules. FILE.csv has the columns command and peak_mib,\n"
      "and seconds if the lengths of jobs are to be foretold, too.");
  args.positional("evaluate FILE.csv", "the jobs, one a line, in the order of their ends", 2, 2,
                  [&evaluation](std::string_view word) -> Result<void> {
                    evaluation.words.emplace_back(word);
                    return {};
                  });
  add_risk_option(args, "how many jobs may run out of memory (default: 1%)", evaluation.risk);
  args.flag("--json", evaluation.json, "print JSON");
  args.example("berth recipes evaluate jobs.csv");
  args.example("berth recipes evaluate jobs.csv --oom-risk 5% --json");
  return args;
}

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

Result<void> evaluate(const Evaluation& evaluation) {
  if (evaluation.words[0] != "evaluate") {
    return fail(ErrorCode::Usage, fmt::format("unknown verb '{}': say berth recipes evaluate "
                                              "FILE.csv",
                                              evaluation.words[0]));
  }
  const std::string& path = evaluation.words[1];
  const Result<std::string> text = read_file(path);
  if (!text) {
    return Failure(text.error());
  }
  const Result<std::vector<TrialJob>> jobs = parse_trial(*text);
  if (!jobs) {
    return fail(jobs.error().code, fmt::format("{}: {}", path, jobs.error().message));
  }
  const double risk = evaluation.risk.value_or(kUsualOomRisk);
  const LearningTrial trial = try_learning(*jobs, risk);
  fmt::print("{}", evaluation.json ? as_json(trial, risk) : as_table(trial));
  return {};
}

}  // namespace

int recipes_main(Words words) {
  Evaluation evaluation;
  const Result<bool> parsed = arguments(evaluation).parse(words);
  if (!parsed) {
    return report(kName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<void> done = evaluate(evaluation);
  return done ? 0 : report(kName, done.error());
}

}  // namespace berth
