// The files that berth reads back, as files_fuzz knows them: the first byte of an input says which
// it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace berth {

enum class FileKind : std::uint8_t {
  StoreJournal,  // an entry
  Changes,       // an entry of the redo log
  RedoLog,       // the whole of it
  Fields,        // of rows of the database
  Attempt,       // what a shim has written
  Peaks,
  Sessions,
  Usage,
  LockHolder,
  MpsAnswer,
  BatchJournal,
  Tasks,    // CSV
  Peasy,    // job lines are those of job_line_fuzz
  Sweep,    // TOML
  Machine,  // CSV
  PackedTrace,
  Whatif,
  Policy,
  Count,
};

/// One input for each kind, or several, made by what writes such files; for libFuzzer to begin
/// with.
void write_seeds(const std::string& folder);

}  // namespace berth
