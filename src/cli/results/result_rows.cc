#include "cli/results/result_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <tuple>

#include "api/json_writer.h"
#include "base/units.h"
#include "cli/jobs/job_words.h"
#include "cli/toolkit/table.h"
#include "spec/csv.h"
#include "spec/sweep_summary.h"

namespace berth {
namespace {

/// How long it ran; nothing for a job that still runs or never did.
std::optional<double> seconds_of(const JobReport& job) {
  return job.started > 0 && job.ended > 0 ? std::optional(job.ended - job.started) : std::nullopt;
}

std::set<std::string> parameters_of(const Results& results) {
  std::set<std::string> names;
  for (const ResultRow& row : results.rows) {
    for (const auto& [name, value] : row.job.description.parameters) {
      names.insert(name);
    }
  }
  return names;
}

std::string parameter(const ResultRow& row, const std::string& name) {
  const auto& all = row.job.description.parameters;
  const auto found = all.find(name);
  return found == all.end() ? "" : found->second;
}

using Field = std::function<std::string(const ResultRow&)>;

std::optional<Field> field_named(const Results& results, const std::string& key) {
  const auto metric = std::find(results.metrics.begin(), results.metrics.end(), key);
  if (metric != results.metrics.end()) {
    const auto at = static_cast<std::size_t>(metric - results.metrics.begin());
    return [at](const ResultRow& row) { return row.metrics[at]; };
  }
  if (parameters_of(results).contains(key)) {
    return [key](const ResultRow& row) { return parameter(row, key); };
  }
  static const std::map<std::string, Field> kFields = {
      {"id", [](const ResultRow& row) { return std::to_string(row.job.id.value); }},
      {"name", [](const ResultRow& row) { return row.job.description.name; }},
      {"state", [](const ResultRow& row) { return state_of(row.job); }},
      {"time",
       [](const ResultRow& row) {
         const std::optional<double> seconds = seconds_of(row.job);
         return seconds ? fmt::format("{:.3f}", *seconds) : "";
       }},
      {"peak",
       [](const ResultRow& row) {
         return row.job.peak > Bytes{} ? std::to_string(row.job.peak.count) : "";
       }},
      {"exit", [](const ResultRow& row) { return exit_words(row.job.exit_code, row.job.signal); }},
  };
  const auto found = kFields.find(key);
  return found == kFields.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number == number
             ? std::optional(number)
             : std::nullopt;
}

/// Numbers before texts; nothing at all comes last, whichever way the rest is ordered.
bool comes_before(const std::string& a, const std::string& b, bool descending) {
  if (a.empty() || b.empty()) {
    return !a.empty() && b.empty();
  }
  const std::optional<double> x = number_in(a);
  const std::optional<double> y = number_in(b);
  if (x.has_value() != y.has_value()) {
    return x.has_value();
  }
  if (x && *x != *y) {
    return descending ? *x > *y : *x < *y;
  }
  return !x && (descending ? a > b : a < b);
}

}  // namespace

Result<void> sort_results(Results& results, std::string_view key) {
  const bool descending = key.starts_with('-');
  const std::string name(key.substr(descending ? 1 : 0));
  const std::optional<Field> field = field_named(results, name);
  if (!field) {
    return fail(ErrorCode::Usage,
                fmt::format("results are not sorted by {}: use id, name, state, time, peak, exit, "
                            "a parameter or a --metric",
                            printable(name)));
  }
  std::stable_sort(results.rows.begin(), results.rows.end(),
                   [&](const ResultRow& a, const ResultRow& b) {
                     return comes_before((*field)(a), (*field)(b), descending);
                   });
  return {};
}

std::string results_table(const Results& results, const Terminal& terminal) {
  const std::set<std::string> parameters = parameters_of(results);
  Table table;
  table.column("ID", Align::Right);
  if (parameters.empty()) {
    table.yielding_column("NAME");
  }
  for (const std::string& name : parameters) {
    table.column(printable(name), Align::Right);
  }
  table.column("STATE");
  table.column("TIME", Align::Right);
  table.optional_column("PEAK", Align::Right);
  table.optional_column("EXIT", Align::Right);
  for (const std::string& metric : results.metrics) {
    table.column(printable(metric), Align::Right);
  }
  for (const ResultRow& row : results.rows) {
    std::vector<Cell> cells = {std::to_string(row.job.id.value)};
    if (parameters.empty()) {
      cells.emplace_back(printable(full_name_of(row.job)));
    }
    for (const std::string& name : parameters) {
      cells.emplace_back(printable(parameter(row, name)));
    }
    const std::string state = state_of(row.job);
    cells.emplace_back(state, colour_of(state));
    cells.emplace_back(row.job.started > 0 ? age_of(row.job) : "-");
    cells.emplace_back(row.job.peak > Bytes{} ? format_bytes(row.job.peak) : "");
    cells.emplace_back(exit_words(row.job.exit_code, row.job.signal));
    for (const std::string& value : row.metrics) {
      cells.emplace_back(value.empty() ? "-" : printable(value));
    }
    table.row(std::move(cells));
  }
  return table.render(terminal.columns, terminal.colour);
}

std::string results_csv(const Results& results) {
  std::vector<std::string> columns = {"id", "name"};
  const std::set<std::string> parameters = parameters_of(results);
  columns.insert(columns.end(), parameters.begin(), parameters.end());
  columns.insert(columns.end(), {"state", "seconds", "peak_bytes", "exit"});
  columns.insert(columns.end(), results.metrics.begin(), results.metrics.end());
  std::string text;
  const auto add = [&text](const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text += (i == 0 ? "" : ",") + csv_field(fields[i]);
    }
    text += "\n";
  };
  add(columns);
  for (const ResultRow& row : results.rows) {
    std::vector<std::string> fields = {std::to_string(row.job.id.value), row.job.description.name};
    for (const std::string& name : parameters) {
      fields.push_back(parameter(row, name));
    }
    for (const char* key : {"state", "time", "peak", "exit"}) {
      fields.push_back((*field_named({}, key))(row));
    }
    fields.insert(fields.end(), row.metrics.begin(), row.metrics.end());
    add(fields);
  }
  return text;
}

std::string results_json(const Results& results) {
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.array("results", [&] {
      for (const ResultRow& row : results.rows) {
        std::map<std::string, std::string> metrics;
        for (std::size_t i = 0; i < results.metrics.size(); ++i) {
          if (!row.metrics[i].empty()) {
            metrics[results.metrics[i]] = row.metrics[i];
          }
        }
        json.object([&] {
          json.field("id", row.job.id.value);
          json.field("name", row.job.description.name);
          json.field("sweep", row.job.description.sweep);
          json.field("parameters", row.job.description.parameters);
          json.field("state", row.job.state);
          json.field("seconds", seconds_of(row.job));
          json.field("peak_bytes", row.job.peak);
          json.field("exit_code", row.job.exit_code);
          json.field("signal", row.job.signal);
          json.field("metrics", metrics);
        });
      }
    });
  });
  return json.take() + "\n";
}

}  // namespace berth
