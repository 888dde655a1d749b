// PeakFile: what jobs of this home have used, for all that run jobs in it: the daemon, `berth run`
// and `berth batch` add to it and learn from each other. A line per job that ended well; the oldest
// go when it becomes too long. Where it cannot be written, nothing is kept beyond this process.
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

  /// What has come since the last call.
  void read();
  /// Also tells `visit`, in the order in which all have written.
  void add(const Recipe& recipe, Bytes peak);

 private:
  std::string path_;
  Visit visit_;
  ino_t inode_ = 0;  // of the file that was read
  off_t read_ = 0;   // up to here
};

}  // namespace berth
