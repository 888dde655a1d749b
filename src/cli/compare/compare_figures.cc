#include "cli/compare/compare_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/json_writer.h"
#include "record/record_charts.h"
#include "sim/escape.h"
#include "sim/page.h"
#include "sim/study.h"

namespace berth {
namespace {

constexpr std::array kRealFigures = {
    RealFigure{"jobs", &RealRun::jobs},
    RealFigure{"failed", &RealRun::failed},
    RealFigure{"makespan_s", &RealRun::makespan_s},
    RealFigure{"mean_wait_s", &RealRun::mean_wait_s},
    RealFigure{"longest_wait_s", &RealRun::longest_wait_s},
    RealFigure{"mean_completion_s", &RealRun::mean_completion_s},
    RealFigure{"busy", &RealRun::busy},
    RealFigure{"utilization_percent", &RealRun::utilization},
    RealFigure{"mean_power_w", &RealRun::power_w},
    RealFigure{"energy_j", &RealRun::energy_j},
    RealFigure{"stops", &RealRun::stops},
};

Estimate estimate_of(const ComparedPolicy& policy, const RealFigure& figure) {
  std::vector<double> values;
  for (const RealRun& run : policy.runs) {
    values.push_back(run.*figure.of);
  }
  return estimate(values);
}

/// Times on one device, by job: a job on several devices works on all of them at once.
struct TimeOf {
  Duration ran{};
  Time ended{};
  std::size_t device = 0;
  std::size_t turns = 0;
};

}  // namespace

std::span<const RealFigure> real_figures() { return kRealFigures; }

RealRun real_run(const Recording& recording, const RunSummary& summary, Time begin) {
  RealRun run;
  std::map<std::size_t, TimeOf> jobs;
  Time last = begin;
  double busy = 0;
  for (const Occupation& one : recording.occupations()) {
    const auto [known, added] = jobs.try_emplace(one.who);
    TimeOf& job = known->second;
    job.device = added ? one.device : job.device;
    if (one.device == job.device) {
      job.ran += one.to - one.from;
      ++job.turns;
    }
    job.ended = std::max(job.ended, one.to);
    last = std::max(last, one.to);
    busy += to_seconds(one.to - one.from);
  }
  for (const auto& [who, job] : jobs) {
    const double completion = to_seconds(job.ended - begin);
    const double wait = std::max(completion - to_seconds(job.ran), 0.0);
    run.mean_completion_s += completion / static_cast<double>(jobs.size());
    run.mean_wait_s += wait / static_cast<double>(jobs.size());
    run.longest_wait_s = std::max(run.longest_wait_s, wait);
    run.stops += static_cast<double>(job.turns - 1);
  }
  run.jobs = static_cast<double>(jobs.size());
  run.failed = static_cast<double>(summary.counts.failed + summary.counts.timed_out);
  run.makespan_s = to_seconds(last - begin);
  const std::vector<DeviceRecord> devices = recording.devices();
  const auto count = static_cast<double>(std::max<std::size_t>(devices.size(), 1));
  run.busy = run.makespan_s > 0 ? busy / (run.makespan_s * count) : 0;
  for (const DeviceRecord& device : devices) {
    run.utilization += device.mean_utilization.value_or(0) / count;
    run.power_w += device.mean_watts.value_or(0);
    run.energy_j += device.joules.value_or(0);
  }
  return run;
}

std::string real_cell(const ComparedPolicy& policy, const RealFigure& figure) {
  const Estimate known = estimate_of(policy, figure);
  return known.half_width > 0 ? fmt::format("{:.4g} ±{:.2g}", known.mean, known.half_width)
                              : fmt::format("{:.4g}", known.mean);
}

std::string comparison_page(std::string_view heading, std::string_view note,
                            const std::vector<ComparedPolicy>& policies) {
  std::string table = "<table><tr><th>figure</th>";
  Duration longest{};
  for (const ComparedPolicy& policy : policies) {
    table += fmt::format("<th>{}</th>", escape(policy.name));
    longest = std::max(longest, policy.first.end() - policy.begin);
  }
  table += "</tr>\n";
  for (const RealFigure& figure : kRealFigures) {
    table += fmt::format("<tr><td>{}</td>", figure.name);
    for (const ComparedPolicy& policy : policies) {
      table += fmt::format("<td>{}</td>", real_cell(policy, figure));
    }
    table += "</tr>\n";
  }
  std::string html =
      fmt::format("<p>The same tasks on the same devices, one policy after the other{}.{}{}</p>\n",
                  policies.front().runs.size() > 1
                      ? fmt::format(", {} times: means with 95 % confidence intervals, charts of "
                                    "the first time",
                                    policies.front().runs.size())
                      : "",
                  note.empty() ? "" : " ", escape(note));
  html += scrolled(table + "</table>");
  for (const ComparedPolicy& policy : policies) {
    html += fmt::format("<h2>{}</h2>\n", escape(policy.name));
    html += scrolled(occupation_chart(make_svg_canvas, "who ran where", policy.first,
                                      {policy.begin, policy.begin + longest}));
    for (const NamedChart& chart : record_charts(make_svg_canvas, policy.first)) {
      html += chart.name == "gantt" ? "" : scrolled(chart.picture);
    }
  }
  return whole_page(heading, html);
}

std::string comparison_csv(const std::vector<ComparedPolicy>& policies) {
  std::string text = "policy,run";
  for (const RealFigure& figure : kRealFigures) {
    text += fmt::format(",{}", figure.name);
  }
  text += "\n";
  for (const ComparedPolicy& policy : policies) {
    for (std::size_t i = 0; i < policy.runs.size(); ++i) {
      text += fmt::format("{},{}", policy.name, i + 1);
      for (const RealFigure& figure : kRealFigures) {
        text += fmt::format(",{:.6g}", policy.runs[i].*figure.of);
      }
      text += "\n";
    }
  }
  return text;
}

std::string comparison_json(std::string_view note, const std::vector<ComparedPolicy>& policies) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.field("note", note);
    json.array("results", [&] {
      for (const ComparedPolicy& policy : policies) {
        json.object([&] {
          json.field("policy", policy.name);
          json.field("runs", policy.runs.size());
          for (const RealFigure& figure : kRealFigures) {
            json.field(figure.name, estimate_of(policy, figure).mean);
          }
          json.object("ci95", [&] {
            for (const RealFigure& figure : kRealFigures) {
              json.field(figure.name, estimate_of(policy, figure).half_width);
            }
          });
        });
      }
    });
  });
  return json.take();
}

}  // namespace berth
