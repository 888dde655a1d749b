#include "slurm/sacct_table.h"

#include "base/text.h"
#include "slurm/read_number.h"
#include "slurm/slurm_words.h"

namespace berth {

std::vector<SqueueRow> read_sacct(std::string_view output) {
  std::vector<SqueueRow> rows;
  while (!output.empty()) {
    std::string_view line = take_until(output, '\n');
    SqueueRow row;
    const bool known = read_job_id(trim(take_until(line, '|')), row);
    row.state = trim(take_until(line, '|'));
    std::string_view status = take_until(line, '|');  // CODE:SIGNAL
    int code = 0;
    int signal = 0;
    (void)read_number(take_until(status, ':'), code);
    (void)read_number(status, signal);
    row.status = code * 256 + signal;
    row.name = trim(line);
    if (known && is_over(row.state)) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace berth
