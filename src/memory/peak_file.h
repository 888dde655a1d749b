// PeakFile: how much memory jobs of this home have used, for all berth instances that run jobs in
// it: the daemon, `berth run` and `berth batch` add to the file and learn from each other. The file
// has a line per job that ended well; the oldest lines go when it becomes too long. If the file
// cannot be written, nothing is kept beyond this process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/units.h"
#include "core/recipe.h"

namespace berth {

class PeakFile {
 public:
  using Visit = std::function<void(const Recipe&, Bytes peak)>;

  /// `visit` is called for each line, within read() and add().
  PeakFile(std::string path, Visit visit);

  /// Reads the lines that were added since the last call.
  void read();
  /// Also calls `visit`, in the order in which all instances have written.
  void add(const Recipe& recipe, Bytes peak);

 private:
  std::string path_;
  Visit visit_;
  ino_t inode_ = 0;  // of the file that was read
  off_t read_ = 0;   // up to here
};

}  // namespace berth
