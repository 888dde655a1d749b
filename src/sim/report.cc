#include "sim/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/charts.h"
#include "sim/escape.h"
#include "sim/page.h"

namespace berth {
namespace {

/// With as many digits as mean something.
std::string in_words(const Estimate& known) {
  if (!(known.half_width > 0)) {
    return fmt::format("{:.6g}", known.mean);
  }
  const int decimals =
      std::clamp(1 - static_cast<int>(std::floor(std::log10(known.half_width))), 0, 6);
  return fmt::format("{:.{}f} ± {:.{}f}", known.mean, decimals, known.half_width, decimals);
}

std::string table(const std::vector<ReportedRun>& runs) {
  std::string html = "<div class=\"wide\"><table><tr><th>figure</th>";
  for (const ReportedRun& run : runs) {
    html += fmt::format("<th>{}</th>", escape(run.name));
  }
  html += "</tr>\n";
  for (const Figure& figure : figures()) {
    html += fmt::format("<tr><td>{}</td>", figure.name);
    for (const ReportedRun& run : runs) {
      html += fmt::format("<td>{}</td>", in_words(estimate(run.summaries, figure)));
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string html_report(std::string_view heading, const Workload& workload, const Machine& machine,
                        const std::vector<ReportedRun>& runs) {
  Span span{kNever, Time{}};
  for (const ReportedRun& run : runs) {
    span.from = std::min(span.from, run.run.first_submit);
    span.to = std::max(span.to, run.run.last_end);
  }
  const MakeCanvas svg = make_svg_canvas;
  const auto chart = [&](std::string_view title, const auto& series_of) {
    std::vector<Line> lines;
    for (const ReportedRun& run : runs) {
      lines.push_back({run.name, series_of(run.run)});
    }
    return scrolled(line_chart(svg, title, lines, span));
  };
  std::string html = fmt::format(
      "<p>{} jobs on {} GPUs.{}</p>\n", workload.jobs.size(), machine.size(),
      runs.empty() || runs.front().summaries.size() < 2
          ? ""
          : fmt::format(" Means of {} runs, with 95 % confidence intervals; the charts show the "
                        "first run.",
                        runs.front().summaries.size()));
  html += table(runs) + "<h2>Over time</h2>\n";
  html += chart("busy devices", [](const SimRun& run) { return busy_devices(run); });
  html += chart("waiting jobs", [&](const SimRun& run) { return waiting_jobs(workload, run); });
  html += chart("power in watts", [&](const SimRun& run) { return power_draw(machine, run); });
  html += chart("jobs that have ended", [](const SimRun& run) { return completions(run); });
  html += "<h2>Who ran where</h2>\n";
  for (const ReportedRun& run : runs) {
    html += scrolled(gantt_chart(svg, run.name, workload, machine, run.run, span));
  }
  return whole_page(heading, html);
}

}  // namespace berth
