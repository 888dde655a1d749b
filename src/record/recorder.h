// Recorder: writes a recording to files. The CSV file grows with each reading; pictures and the
// page are written at the end. Owned by one thread.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/recording.h"

namespace berth {

/// What to write, by name.
struct RecordFiles {
  std::optional<std::string> csv;  // "-": standard output
  std::optional<std::string> page;
  std::optional<std::string> charts;  // .svg or .png; each chart has its name before the ending
  std::optional<std::string> gantt;   // .svg or .png

  bool empty() const { return !csv && !page && !charts && !gantt; }
};

/// Whether a picture can be written under this name: .svg or .png.
Result<void> check_picture(std::string_view path);

class Recorder {
 public:
  /// Opens the CSV file and writes its header. Rows come every `interval`, however often devices
  /// are read. `heading` is the page's.
  static Result<std::unique_ptr<Recorder>> open(std::string heading, RecordFiles files,
                                                const std::vector<DeviceInfo>& devices,
                                                Duration interval);

  void sampled(const std::vector<DeviceSample>& samples, Time at,
               std::chrono::system_clock::time_point wall);
  Recording& recording() { return recording_; }

  /// Ends the recording and writes what is written at its end. Returns the names of the files.
  Result<std::vector<std::string>> finish(Time at);

 private:
  using File = std::unique_ptr<std::FILE, void (*)(std::FILE*)>;

  Recorder(std::string heading, RecordFiles files, const std::vector<DeviceInfo>& devices,
           Duration interval);

  std::string heading_;
  RecordFiles files_;
  std::vector<DeviceInfo> devices_;
  Duration interval_;
  Recording recording_;
  File csv_;
  std::vector<bool> listed_;  // devices that have rows: each once
  Time next_row_{};
};

}  // namespace berth
