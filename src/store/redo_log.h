// RedoLog: a file of fixed size that holds the changes committed since the database's own last
// commit. A transaction of SQLite writes every page it touches. An entry here writes only the
// changes, at once and in place, so that syncing it is as cheap as a disk allows. The next open of
// the database applies the entries that it lacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

class RedoLog {
 public:
  /// For the database at `path`. If there is no room for the file, no entry ever fits.
  static RedoLog open(const std::string& path);
  /// Whether the log of the database at `path` has entries that the database may lack.
  static bool holds_entries(const std::string& path);

  /// The entries that follow number `applied` without a gap; the next entry goes behind them. An
  /// entry that a crash has torn does not count.
  std::vector<std::string> recover(std::uint64_t applied);

  /// The largest entry that fits now.
  std::size_t room() const;
  /// Written when it returns: the entry outlives this process, but not yet a loss of power. After
  /// an error the same place is written again.
  Result<void> append(std::uint64_t number, std::string_view entry);
  /// Durable when it returns. After an error the entries since the last sync do not count: the next
  /// entry goes where the first of them was.
  Result<void> sync();
  /// The database has everything: the next entry goes to the front.
  void clear() { end_ = synced_ = 0; }
  /// Clears the log on disk, too, in case the log is found without its database.
  void wipe();

 private:
  Fd file_;
  std::uint64_t size_ = 0;
  std::uint64_t end_ = 0;     // where the next entry goes
  std::uint64_t synced_ = 0;  // where it went at the last sync
};

}  // namespace berth
