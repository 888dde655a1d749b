// A look at a file that a job writes: some bytes of it, and a watch where there are none yet. It is
// done with the rights of the process that looks. Only UserFiles calls it, which finds the process.
#pragma once

#include <cstdint>
#include <string>

namespace berth {

struct FileQuestion {
  std::string path;
  std::uint64_t offset = 0;
  std::int64_t tail = -1;  // begin with the last so many lines instead; -1: not asked for
  bool from_end = false;   // the last `most` bytes
  std::size_t most = 0;    // bytes
  bool watch = false;      // where there is nothing, an event is to tell of more
};

struct FileAnswer {
  int error = 0;         // of the operating system; ENOENT: there is no file (yet)
  bool refused = false;  // it is no regular file, and has not been opened
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of the bytes
  std::string bytes;
  int watch = -1;
};

/// Opens nothing but a regular file: to open a FIFO and to close it again ends its writer.
/// `changes` is an inotify instance, for a watch.
FileAnswer look_at(const FileQuestion& question, int changes);

}  // namespace berth
