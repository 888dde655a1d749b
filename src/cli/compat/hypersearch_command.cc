// simple_hypersearch: the tool of that name, whose options and output scripts rely on.
#include <algorithm>
#include <vector>

#include "cli/commands.h"
#include "cli/sweep/sweep_options.h"
#include "cli/toolkit/args.h"
#include "spec/sweep.h"

namespace berth {
namespace {

constexpr std::string_view kHypersearchName = "simple_hypersearch";

Args hypersearch_args(SweepSpec& spec) {
  Args args("simple_hypersearch PATTERN -p NAME VALUE… [options]",
            "Prints one command for every combination of the parameters. {name} in the pattern\n"
            "stands for a value, {{ and }} for braces.");
  args.positional("PATTERN", "the command, with {name} for each parameter", 1, 1,
                  [&spec](std::string_view word) -> Result<void> {
                    spec.command = word;
                    return {};
                  });
  args.value("--sampling-mode", "MODE",
             "shuffled_grid (the default) or grid, the last parameter\n"
             "varying fastest",
             [&spec](std::string_view word) -> Result<void> {
               const Result<SweepOrder> order = parse_sweep_order(word);
               if (!order) {
                 return Failure(order.error());
               }
               spec.order = *order;
               return {};
             });
  // A value after a name was always taken as it is: ranges need the `NAME=` form.
  add_sweep_options(args, spec, LoneValue::IsLiteral);
  args.abbreviate();
  args.example("simple_hypersearch 'train.py --lr {lr}' -p lr 0.001 0.0005");
  args.example("simple_hypersearch 'train.py --lr {lr}' --n-samples 5 -p lr=log:1e-5..1e-1");
  return args;
}

/// As in a dictionary: a parameter that is given again has the later values, at its first place.
void keep_last_values(std::vector<Param>& params) {
  std::vector<Param> kept;
  for (Param& param : params) {
    const auto same = std::find_if(
        kept.begin(), kept.end(), [&](const Param& other) { return other.name() == param.name(); });
    if (same == kept.end()) {
      kept.push_back(std::move(param));
    } else {
      *same = std::move(param);
    }
  }
  params = std::move(kept);
}

}  // namespace

int simple_hypersearch_main(Words words) {
  SweepSpec spec;
  spec.order = SweepOrder::Shuffled;
  spec.allow_unused = true;
  const Result<bool> parsed = hypersearch_args(spec).parse(words);
  if (!parsed) {
    return report(kHypersearchName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  keep_last_values(spec.params);
  const std::uint64_t seed = spec.seed ? *spec.seed : fresh_seed();
  const Result<Sweep> sweep = Sweep::make(std::move(spec));
  if (!sweep) {
    return report(kHypersearchName, sweep.error());
  }
  const Result<void> done = for_each_point(*sweep, seed, [](const SweepCursor& point) {
    return write_out(as_job_lines(point.command()));
  });
  return done ? 0 : report(kHypersearchName, done.error());
}

}  // namespace berth
