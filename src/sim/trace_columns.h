// TraceColumns: the columns of a trace, and the parsing of a row into a job.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/workload.h"

namespace berth {

struct TraceRow {
  SimJob job;             // without its owner
  std::string_view name;  // points into the line
  std::string_view user;
};

class TraceColumns {
 public:
  static Result<TraceColumns> from_header(std::string_view line);
  /// The Standard Workload Format: eighteen numbers with blanks between them.
  static TraceColumns standard_workload();

  Result<TraceRow> parse(std::string_view line) const;
  std::string_view name_of_gpus() const;

 private:
  enum Field {
    Name,
    User,
    Submit,
    Start,
    End,
    Length,
    Expected,
    Gpus,
    Memory,
    Milli,
    Priority,
    Weight
  };
  static constexpr std::size_t kFields = Weight + 1;

  std::string_view cell(const std::vector<std::string_view>& cells, Field field) const;
  Failure wrong(Field field, std::string_view text, std::string_view why) const;
  Result<Duration> time(const std::vector<std::string_view>& cells, Field field) const;
  Result<std::uint32_t> count(const std::vector<std::string_view>& cells, Field field,
                              std::uint32_t absent) const;
  Result<Duration> length(const std::vector<std::string_view>& cells) const;

  std::array<int, kFields> at_{};  // -1: the trace has no such column
  std::vector<std::string> names_;
  bool blanks_ = false;  // the Standard Workload Format, in which -1 means unknown
  int gpus_used_ = -1;   // in that format: GPUs that the job had, if it asked for none
};

}  // namespace berth
