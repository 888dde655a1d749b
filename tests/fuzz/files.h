// The kinds of files that berth reads back, for files_fuzz. The first byte of an input tells its
// kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace berth {

enum class FileKind : std::uint8_t {
  StoreJournal,  // an entry
  Changes,       // an entry of the redo log
  RedoLog,       // the whole log
  Fields,        // of database rows
  Attempt,       // written by a shim
  Peaks,
  Sessions,
  Usage,
  LockHolder,
  MpsAnswer,
  BatchJournal,
  Tasks,    // CSV
  Peasy,    // job_line_fuzz covers job lines
  Sweep,    // TOML
  Machine,  // CSV
  PackedTrace,
  Whatif,
  Policy,
  Count,
};

/// Writes one or more inputs of each kind, made by the code that writes such files. libFuzzer
/// begins with them.
void write_seeds(const std::string& folder);

}  // namespace berth
