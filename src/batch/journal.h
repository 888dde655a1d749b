// BatchJournal: how far a batch file has come, kept in a file beside it. Every line is on disk
// before its function returns; what is torn at the end by a crash is ignored. Who has it open holds
// a lock on it, so that one file is never run twice at once. docs/formats.md describes the lines.
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

/// What the lines of a journal add up to.
struct BatchProgress {
  std::string token;  // tells this journal from all others
  std::vector<BatchSpan> batches;
  std::map<std::size_t, RowRecord> rows;
  std::map<std::string, Bytes> profiled;  // fingerprints of scripts, and their peaks
  std::uint64_t next_id = 1;

  std::size_t taken() const { return batches.empty() ? 0 : batches.back().end(); }
  RowRecord row(std::size_t row) const;
  /// False for a line that makes no sense.
  bool take(std::string_view line);
};

class BatchJournal {
 public:
  /// Takes the lock; makes the file where there is none.
  static Result<BatchJournal> open(const std::string& path);
  /// Without the lock: how far it is, and in `running` whether somebody has the lock.
  static Result<BatchProgress> look(const std::string& path, bool& running);

  const BatchProgress& progress() const { return progress_; }

  Result<BatchSpan> begin_batch(std::size_t count);
  /// `script` is the fingerprint of one.
  Result<void> script_profiled(const std::string& script, Bytes peak);
  Result<void> row_started(std::size_t row);
  Result<void> row_succeeded(std::size_t row, const std::string& fingerprint);
  Result<void> row_failed(std::size_t row, const std::string& fingerprint,
                          const std::string& reason);
  Result<void> row_submitted(std::size_t row, const std::string& fingerprint, std::uint64_t job);
  /// All rows are to run again, with ids that nobody had.
  Result<void> restart();

 private:
  BatchJournal(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Result<void> add(const std::string& line);
  Result<void> write_line(const std::string& line);

  Fd file_;
  std::string path_;
  BatchProgress progress_;
};

}  // namespace berth
