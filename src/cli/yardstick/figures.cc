#include "cli/yardstick/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/json_writer.h"

namespace berth {

BenchSpread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t percent) {
    return values[std::min(values.size() - 1, values.size() * percent / 100)];
  };
  return {at(50), at(99)};
}

std::string describe(const BenchFigures& figures) {
  return fmt::format(
      "A job costs {:.2f} ms of this machine here, of which {:.2f} ms are its shell.\n"
      "{:.0f} jobs a second went through the daemon, {} at a time; {:.0f} a second is what the "
      "bare "
      "machine does ({:.2f} of it).\n"
      "The next job starts {:.1f} ms after the end of the one before it (99 of 100: {:.1f} ms).\n"
      "{:.0f} jobs a second were submitted one by one; {:.0f} programs that do nothing start in "
      "that time ({:.2f} of it).\n"
      "The disk takes {:.2f} ms to keep a submission (99 of 100: {:.2f} ms).\n",
      figures.job_cost(), figures.shell_cost(), figures.jobs, figures.slots, figures.shells,
      figures.jobs / figures.shells, figures.gap.p50, figures.gap.p99, figures.submissions,
      figures.starts, figures.submissions / figures.starts, figures.sync.p50, figures.sync.p99);
}

std::string to_json(const BenchFigures& figures) {
  JsonWriter json;
  const auto spread = [&](std::string_view name, const BenchSpread& value) {
    json.object(name, [&] {
      json.field("p50", value.p50);
      json.field("p99", value.p99);
    });
  };
  json.object([&] {
    json.field("version", 1);
    json.field("cores", figures.cores);
    json.field("slots", figures.slots);
    json.field("job_ms", figures.job_cost());
    json.field("shell_ms", figures.shell_cost());
    json.field("jobs_per_second", figures.jobs);
    json.field("shells_per_second", figures.shells);
    spread("gap_ms", figures.gap);
    json.field("submissions_per_second", figures.submissions);
    json.field("starts_per_second", figures.starts);
    spread("sync_ms", figures.sync);
  });
  return json.take();
}

}  // namespace berth
