#include "cli/sweep/sweep_options.h"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <random>

namespace berth {

void add_sweep_options(Args& args, SweepSpec& spec, LoneValue lone) {
  args.list("-p,--parameter", "NAME VALUE…",
            "a parameter and its values; may be given again. Also\n"
            "NAME=VALUE,VALUE and ranges: n=1..10, n=1..10..2, x=0..1..0.25,\n"
            "x=lin:0..1/11, lr=log:1e-5..1e-1/5, bs=pow2:16..256; with\n"
            "--n-samples also x=uniform:0..1 and lr=log:1e-5..1e-1",
            [&spec, lone](std::span<const std::string_view> words) -> Result<void> {
              Result<std::vector<Param>> params = parse_param_words(words, lone);
              if (!params) {
                return Failure(params.error());
              }
              std::move(params->begin(), params->end(), std::back_inserter(spec.params));
              return {};
            });
  args.list("--zip", "NAME NAME…", "these parameters advance together, not in all combinations",
            [&spec](std::span<const std::string_view> names) -> Result<void> {
              spec.zips.emplace_back(names.begin(), names.end());
              return {};
            });
  args.value("--where", "CONDITION",
             "only points where this holds, such as 'fc0 == fc1' or\n"
             "'bs <= 128 and opt in (\"sgd\", \"adam\")'; may be given again",
             [&spec](std::string_view condition) -> Result<void> {
               spec.where.emplace_back(condition);
               return {};
             });
  args.value("--n-samples", "N", "only N of the points (without one, all)",
             [&spec](std::string_view word) -> Result<void> {
               const auto number = parse_integer(word, "the number of samples");
               if (!number) {
                 return Failure(number.error());
               }
               if (*number < 0) {
                 return fail(ErrorCode::Usage, "the number of samples cannot be negative");
               }
               spec.n_samples = static_cast<std::uint64_t>(*number);
               return {};
             });
  args.value("--seed", "S", "the same seed gives the same commands, on every machine",
             [&spec](std::string_view word) -> Result<void> {
               const auto number = parse_integer(word, "the seed");
               if (!number) {
                 return Failure(number.error());
               }
               spec.seed = static_cast<std::uint64_t>(*number);
               return {};
             });
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Result<void> for_each_point(const Sweep& sweep, std::uint64_t seed,
                            const std::function<bool(const SweepCursor&)>& visit) {
  SweepCursor cursor(sweep, seed);
  std::uint64_t found = 0;
  while (cursor.next()) {
    ++found;
    if (!visit(cursor)) {
      return {};
    }
  }
  if (cursor.gave_up()) {
    return fail(
        ErrorCode::Refused,
        fmt::format("gave up after {} sample(s): too few points satisfy the constraints", found));
  }
  return {};
}

std::string as_job_lines(const std::string& command) {
  const bool several = command.find('\n') != command.npos;
  // A command that begins like a block would be read as one.
  if (!several && !command.starts_with("<<")) {
    return command + "\n";
  }
  const std::string lines = "\n" + command + "\n";
  std::string end = "END";
  while (lines.find("\n" + end + "\n") != lines.npos) {
    end += "_";
  }
  return "<<" + end + lines + end + "\n";
}

bool write_out(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
}

}  // namespace berth
