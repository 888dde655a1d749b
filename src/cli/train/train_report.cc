#include "cli/train/train_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "api/json_writer.h"
#include "cli/sim/sim_options.h"
#include "cli/toolkit/table.h"
#include "policy/policies.h"

namespace berth {

TrainProgress::TrainProgress(std::uint64_t steps, bool quiet)
    : steps_(steps),
      terminal_(!quiet && ::isatty(STDERR_FILENO) != 0),
      begun_(std::chrono::steady_clock::now()) {}

void TrainProgress::show(const Trainer& trainer) {
  if (first_) {
    first_ = false;
    begun_at_ = trainer.steps();
    return;
  }
  if (!terminal_ || trainer.curve().empty()) {
    return;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  fmt::print(
      stderr, "\r{:3.0f} %  cost {:.4f}, best {:.4f}  {:.0f} decisions/s \x1b[K",
      std::min(100.0, 100 * static_cast<double>(trainer.steps()) / static_cast<double>(steps_)),
      trainer.curve().back().course_cost, trainer.best_cost(),
      static_cast<double>(trainer.steps() - begun_at_) / std::max(seconds, 1e-3));
}

void TrainProgress::done(const Trainer&) {
  if (terminal_) {
    fmt::print(stderr, "\r\x1b[K");
  }
}

TestResult test_model(const Course& tests, const Model& model) {
  TestResult result;
  const auto count = static_cast<double>(tests.size());
  for (const Lesson& lesson : tests.lessons()) {
    result.model += tests.plain_cost(lesson, make_learned(model)) / count;
    result.usual += lesson.usual / count;
    result.priority += tests.plain_cost(lesson, std::move(*make_policy("priority"))) / count;
  }
  return result;
}

Result<void> write_curve(const std::string& path, const Curve& curve) {
  return write_file(path, path.ends_with(".csv") ? curve_csv(curve) : curve_svg(curve));
}

void print_result(const Model& model, const TestResult& result, const Trainer& trainer,
                  const std::string& usual, bool json) {
  if (json) {
    JsonWriter out(2);
    out.object([&] {
      out.field("version", 1);
      out.field("model", model.origin.name);
      out.field("workload", model.origin.workload);
      out.field("reward", model.origin.reward);
      out.field("trainer", model.origin.trainer);
      out.field("seed", model.origin.seed);
      out.field("steps", trainer.steps());
      out.object("unseen", [&] {
        out.field("rl", result.model, 6);
        out.field(usual, result.usual, 6);
        if (usual != "priority") {
          out.field("priority", result.priority, 6);
        }
      });
    });
    fmt::print("{}\n", out.take());
    return;
  }
  fmt::print("learning curve  {}  {:.4g} → {:.4g} of {}\n", curve_bars(trainer.curve(), 48),
             trainer.curve().front().course_cost, trainer.best_cost(), usual);
  Table table;
  table.column("policy");
  table.column(fmt::format("{} on unseen schedules", model.origin.reward), Align::Right);
  table.row({"rl", fmt::format("{:.4g}", result.model)});
  table.row({usual, fmt::format("{:.4g}", result.usual)});
  if (usual != "priority") {
    table.row({"priority", fmt::format("{:.4g}", result.priority)});
  }
  fmt::print("{}", table.render(0, false));
  const double best = std::min(result.usual, result.priority);
  if (result.model >= best) {
    fmt::print("The model is no better than {} here: do not use it.\n",
               result.usual <= result.priority ? usual : "priority");
  } else {
    fmt::print("On jobs that it was not trained on, the model is better than {} by {:.0f} %.\n",
               result.usual <= result.priority ? usual : "priority",
               100 * (1 - result.model / best));
  }
}

}  // namespace berth
