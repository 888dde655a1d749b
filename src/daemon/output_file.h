// Looks at a file that a job writes: reads some bytes, and sets a watch if there are none yet. The
// look has the rights of the process that makes it. Only UserFiles uses it, and finds the process.
#pragma once

#include <cstdint>
#include <string>

namespace berth {

struct FileQuestion {
  std::string path;
  std::uint64_t offset = 0;
  std::int64_t tail = -1;  // begin with this many last lines instead; -1: not requested
  bool from_end = false;   // the last `most` bytes
  std::size_t most = 0;    // bytes
  bool watch = false;      // if there are no bytes, set a watch that reports more
};

struct FileAnswer {
  int error = 0;         // of the operating system; ENOENT: there is no file (yet)
  bool refused = false;  // not a regular file, and not opened
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of the bytes
  std::string bytes;
  int watch = -1;
};

/// Opens only regular files, because opening and closing a FIFO ends its writer. `changes` is the
/// inotify instance for a watch.
FileAnswer look_at(const FileQuestion& question, int changes);

}  // namespace berth
