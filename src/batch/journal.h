// BatchJournal: the progress of a batch file, kept in a file beside it. Every line is on disk
// before its function returns. A line torn by a crash at the end is ignored. An open journal is
// locked, so that one batch file is never run twice at once. docs/formats.md describes the lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"

namespace berth {

enum class RowState : std::uint8_t { Waiting, Running, Succeeded, Failed, Submitted };

struct RowRecord {
  RowState state = RowState::Waiting;
  std::string fingerprint;  // of the row when it ended
  std::string reason;       // of a failure
  std::uint64_t job = 0;    // in the daemon's queue
};

/// Rows, counted from 0, that were taken from the file together; their ids count up from
/// `first_id`.
struct BatchSpan {
  std::size_t first = 0;
  std::size_t count = 0;
  std::uint64_t first_id = 0;

  std::size_t end() const { return first + count; }
};

/// The state that the lines of a journal add up to.
struct BatchProgress {
  std::string token;  // identifies this journal among all others
  std::vector<BatchSpan> batches;
  std::map<std::size_t, RowRecord> rows;
  std::map<std::string, Bytes> profiled;  // fingerprints of scripts, and their peaks
  std::uint64_t next_id = 1;

  std::size_t taken() const { return batches.empty() ? 0 : batches.back().end(); }
  RowRecord row(std::size_t row) const;
  /// Applies one line. False if the line makes no sense.
  bool take(std::string_view line);
};

class BatchJournal {
 public:
  /// Takes the lock; creates the file if it does not exist. `ids` is the file that counts the ids
  /// of all batch files; without one, the ids of this file count from 1.
  static Result<BatchJournal> open(const std::string& path, std::string ids = "");
  /// Reads the progress without taking the lock. `running` tells whether a process holds the lock.
  static Result<BatchProgress> look(const std::string& path, bool& running);

  const BatchProgress& progress() const { return progress_; }

  /// The batch has begun even when this fails, for a run that goes on without its record.
  Result<BatchSpan> begin_batch(std::size_t count);
  /// `script` is the fingerprint of a script.
  Result<void> script_profiled(const std::string& script, Bytes peak);
  Result<void> row_started(std::size_t row);
  Result<void> row_succeeded(std::size_t row, const std::string& fingerprint);
  Result<void> row_failed(std::size_t row, const std::string& fingerprint,
                          const std::string& reason);
  Result<void> row_submitted(std::size_t row, const std::string& fingerprint, std::uint64_t job);
  /// Marks all rows to run again, with new ids.
  Result<void> restart();

 private:
  BatchJournal(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Result<void> add(const std::string& line);
  Result<void> write_line(const std::string& line);

  Fd file_;
  std::string path_;
  std::string ids_;
  BatchProgress progress_;
};

}  // namespace berth
