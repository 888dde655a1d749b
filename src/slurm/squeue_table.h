// What squeue prints, as values. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

/// A line of squeue: a job, or some elements of an array.
struct SqueueRow {
  std::string id;  // without the elements
  /// Elements of an array, as ranges; none: the job is no array.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> elements;
  std::string state;   // "PENDING"
  int status = 0;      // as wait() has it, of a job that has ended
  std::string reason;  // "Priority", or the nodes of a job that runs
  std::string name;
  int restarts = 0;
};

/// The argument of squeue's --Format for which read_squeue() is.
inline constexpr std::string_view kSqueueFormat =
    "JobArrayID:|,State:|,exit_code:|,ReasonList:|,Name:|,RestartCnt:|";

/// Lines that make no sense are left out.
std::vector<SqueueRow> read_squeue(std::string_view output);

/// "12", "12_5" or "12_[1-3,7]". False when that makes no sense.
bool read_job_id(std::string_view text, SqueueRow& row);

/// The row of an element of the job with this name; nullptr: there is none.
const SqueueRow* find_row(const std::vector<SqueueRow>& rows, std::string_view name,
                          std::uint32_t index);

/// "1-3,7,9-20:2%5". Empty when that makes no sense.
std::vector<std::pair<std::uint32_t, std::uint32_t>> read_indices(std::string_view text);
/// The other way round, for sbatch; the indices are in order.
std::string write_indices(const std::vector<std::uint32_t>& indices);

}  // namespace berth
