// PeakFile: how much memory jobs of this home have used and how long they took, for all berth
// instances that run jobs in it: the daemon, `berth run` and `berth batch` add to the file and
// learn from each other. The file has a line per job that ended well (past_run.h). It may be
// replaced at any time by one with fewer lines or other ones (peak_rewrite.h): then everything is
// read anew. If the file cannot be written, nothing is kept beyond this process.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "base/fd.h"
#include "memory/past_run.h"

namespace berth {

class PeakFile {
 public:
  /// What the user of a file does about its lines, within the constructor, read() and add().
  struct Reader {
    std::function<void(const PastRun&)> learn;
    /// All that was learned is void; what still holds is told again.
    std::function<void()> forget;
  };

  PeakFile(std::string path, Reader reader);

  /// Reads the lines that were added since the last call.
  void read();
  /// Also tells the reader, in the order in which all instances have written.
  void add(const PastRun& run);

 private:
  void write_lines();
  void reopen();
  void read_lines();

  std::string path_;
  Reader reader_;
  // Kept open, so that no other file gets its number.
  Fd file_;
  off_t read_ = 0;  // up to here
  std::deque<PastRun> unwritten_;
  off_t too_long_;  // beyond this it is to be shortened
};

}  // namespace berth
