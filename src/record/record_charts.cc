#include "record/record_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "sim/escape.h"
#include "sim/page.h"

namespace berth {
namespace {

std::string label(const DeviceRecord& device) {
  return device.model.empty() ? "GPU " + device.name
                              : fmt::format("GPU {} ({})", device.name, device.model);
}

template <class Value>
std::string lines(const MakeCanvas& make, std::string_view title,
                  const std::vector<DeviceRecord>& devices, Span span, Value value) {
  std::vector<Line> all;
  for (const DeviceRecord& device : devices) {
    Line& line = all.emplace_back(Line{label(device), {}});
    for (const UsePoint& point : device.points) {
      line.series.push_back({point.at, value(point)});
    }
  }
  return line_chart(make, title, all, span);
}

bool any(const std::vector<DeviceRecord>& devices, bool (*has)(const DeviceRecord&)) {
  return std::any_of(devices.begin(), devices.end(), has);
}

std::string cell(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format("<td>{:.5g} {}</td>", *value, unit) : "<td>unknown</td>";
}

std::string device_table(const std::vector<DeviceRecord>& devices) {
  std::string html =
      "<table><tr><th>device</th><th>readings</th><th>mean use</th><th>mean use of memory</th>"
      "<th>mean power</th><th>peak power</th><th>energy</th></tr>\n";
  double joules = 0;
  for (const DeviceRecord& device : devices) {
    html +=
        fmt::format("<tr><td>{}</td><td>{}</td>{}{}{}{}{}</tr>\n", escape(label(device)),
                    device.readings, cell(device.mean_utilization, "%"),
                    cell(device.mean_memory_busy, "%"), cell(device.mean_watts, "W"),
                    cell(device.mean_watts ? std::optional(device.peak_watts) : std::nullopt, "W"),
                    cell(device.joules, "J"));
    joules += device.joules.value_or(0);
  }
  html += fmt::format(
      "<tr><td>all</td><td></td><td></td><td></td><td></td><td></td><td>{:.5g} J</td></tr>",
      joules);
  return scrolled(html + "</table>");
}

std::string occupation_table(const Recording& recording) {
  constexpr std::size_t kMostRows = 200;
  std::string html = "<table><tr><th>who</th><th>device</th><th>from</th><th>for</th></tr>\n";
  std::size_t rows = 0;
  for (const Occupation& one : recording.occupations()) {
    if (rows++ == kMostRows) {
      html += fmt::format("<tr><td>and {} more</td></tr>\n",
                          recording.occupations().size() - kMostRows);
      break;
    }
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        escape(recording.names()[one.who]), escape(recording.slots()[one.device]),
                        format_duration(one.from - recording.begin()),
                        format_duration(one.to - one.from));
  }
  return scrolled(html + "</table>");
}

}  // namespace

std::string occupation_chart(const MakeCanvas& make, std::string_view title,
                             const Recording& recording, Span span) {
  Workload workload;
  workload.names = recording.names();
  workload.jobs.resize(recording.names().size());
  Machine machine;
  for (const std::string& name : recording.slots()) {
    machine.emplace_back().spec.name = name;
  }
  SimRun run;
  for (const Occupation& one : recording.occupations()) {
    const Time to = std::min(one.to, span.to);
    run.timeline.push_back({static_cast<std::uint32_t>(one.who),
                            DeviceId{static_cast<std::uint32_t>(one.device)}, one.from, to});
  }
  return gantt_chart(make, title, workload, machine, run, span, true);
}

std::vector<NamedChart> record_charts(const MakeCanvas& make, const Recording& recording) {
  const std::vector<DeviceRecord> devices = recording.devices();
  const Span span{recording.begin(), recording.end()};
  std::vector<NamedChart> charts;
  if (any(devices, [](const DeviceRecord& one) { return one.mean_utilization.has_value(); })) {
    charts.push_back({"usage", lines(make, "use in percent", devices, span,
                                     [](const UsePoint& one) { return one.utilization; })});
  }
  if (any(devices, [](const DeviceRecord& one) { return one.mean_watts.has_value(); })) {
    charts.push_back({"power", lines(make, "power in watts", devices, span,
                                     [](const UsePoint& one) { return one.watts; })});
  }
  if (any(devices, [](const DeviceRecord& one) { return one.joules.has_value(); })) {
    charts.push_back({"energy", lines(make, "energy in joules", devices, span,
                                      [](const UsePoint& one) { return one.joules; })});
  }
  if (!recording.occupations().empty()) {
    charts.push_back({"gantt", occupation_chart(make, "who ran where", recording, span)});
  }
  return charts;
}

std::string record_page(std::string_view heading, const Recording& recording) {
  const std::vector<DeviceRecord> devices = recording.devices();
  std::string html = fmt::format(
      "<p>{} of {} devices.{}</p>\n", format_duration(recording.end() - recording.begin()),
      devices.size(),
      any(devices, [](const DeviceRecord& one) { return one.joules && !one.counted; })
          ? " The energy is made of the readings of power: the driver does not count it."
          : "");
  html += device_table(devices) + "<h2>Over time</h2>\n";
  std::vector<NamedChart> charts = record_charts(make_svg_canvas, recording);
  for (const NamedChart& chart : charts) {
    html += chart.name == "gantt" ? "<h2>Who ran where</h2>\n" : "";
    html += scrolled(chart.picture);
  }
  if (charts.empty()) {
    html += "<p>Nothing was read: no driver tells the use of these devices.</p>\n";
  }
  if (recording.occupations().empty()) {
    html += "<p>No process was seen on the devices.</p>\n";
  } else {
    html += occupation_table(recording);
  }
  return whole_page(heading, html);
}

}  // namespace berth
