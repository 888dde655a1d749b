// RecordSession: the loop of `berth record`. A thread reads the devices; this thread passes the
// readings on to a recorder until a command has ended, or until a signal comes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/devices.h"
#include "record/recorder.h"

namespace berth {

struct RecordSession {
  Devices& devices;
  Recorder& recorder;
  Duration interval = std::chrono::seconds(1);
  /// The command and its arguments; empty: until INT, TERM or HUP. It has our terminal, and gets
  /// the signals that are sent to us.
  std::vector<std::string> command = {};

  /// The exit code as a shell would have it; 0 without a command. A last reading is taken when the
  /// command has ended. Signals must not be handled by other code meanwhile.
  Result<int> run();
};

}  // namespace berth
