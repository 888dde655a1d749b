// Commands: other programs, run without a shell. The real one starts processes; tests have their
// own.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace berth {

struct CommandOutput {
  int code = 0;  // 128 and more: ended by a signal
  std::string out;
  std::string err;

  bool ok() const { return code == 0; }
};

class Commands {
 public:
  virtual ~Commands() = default;

  /// Runs the program and waits for its end, not for that of daemons it leaves behind. NotFound
  /// when there is no such program; Timeout when it took longer than `patience` (it is killed
  /// then).
  virtual Result<CommandOutput> run(const std::vector<std::string>& words,
                                    std::string_view input = {},
                                    Duration patience = std::chrono::seconds(30)) = 0;
};

/// Starts processes with this process's environment, in plain English, with /usr/sbin in PATH.
class ProcessCommands : public Commands {
 public:
  Result<CommandOutput> run(const std::vector<std::string>& words, std::string_view input,
                            Duration patience) override;
};

/// The same, and an exit code other than 0 is an error that tells what the program said last.
Result<std::string> run_or_fail(Commands& commands, const std::vector<std::string>& words,
                                Duration patience = std::chrono::seconds(30));

/// The last line of a text that has something in it.
std::string last_line(std::string_view text);

}  // namespace berth
