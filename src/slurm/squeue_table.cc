#include "slurm/squeue_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "slurm/read_number.h"

namespace berth {
bool read_job_id(std::string_view text, SqueueRow& row) {
  row.id = take_until(text, '_');
  if (text.empty()) {
    return !row.id.empty();
  }
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
  }
  row.elements = read_indices(text);
  return !row.elements.empty();
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> read_indices(std::string_view text) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  text = text.substr(0, text.find('%'));  // how many may run at once
  while (!text.empty()) {
    std::string_view range = take_until(text, ',');
    std::string_view bounds = take_until(range, ':');
    std::uint32_t step = 1;
    if (!range.empty() && (!read_number(range, step) || step == 0)) {
      return {};
    }
    std::uint32_t first = 0;
    if (!read_number(take_until(bounds, '-'), first)) {
      return {};
    }
    std::uint32_t last = first;
    if (!bounds.empty() && (!read_number(bounds, last) || last < first)) {
      return {};
    }
    if (step == 1) {
      ranges.emplace_back(first, last);
      continue;
    }
    for (std::uint32_t each = first; each <= last; each += step) {
      ranges.emplace_back(each, each);
    }
  }
  return ranges;
}

std::string write_indices(const std::vector<std::uint32_t>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint32_t first = indices[i];
    while (i + 1 < indices.size() && indices[i + 1] == indices[i] + 1) {
      ++i;
    }
    text += text.empty() ? "" : ",";
    text += first == indices[i] ? std::to_string(first) : fmt::format("{}-{}", first, indices[i]);
  }
  return text;
}

std::vector<SqueueRow> read_squeue(std::string_view output) {
  std::vector<SqueueRow> rows;
  while (!output.empty()) {
    std::string_view line = take_until(output, '\n');
    SqueueRow row;
    const bool known = read_job_id(trim(take_until(line, '|')), row);
    row.state = trim(take_until(line, '|'));
    const std::string_view status = trim(take_until(line, '|'));
    row.reason = trim(take_until(line, '|'));
    row.name = trim(take_until(line, '|'));
    (void)read_number(status, row.status);
    (void)read_number(trim(take_until(line, '|')), row.restarts);
    if (known && !row.state.empty()) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

const SqueueRow* find_row(const std::vector<SqueueRow>& rows, std::string_view name,
                          std::uint32_t index) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const SqueueRow& row) {
    return row.name == name &&
           (row.elements.empty() ||
            std::any_of(row.elements.begin(), row.elements.end(), [&](const auto& range) {
              return range.first <= index && index <= range.second;
            }));
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace berth
