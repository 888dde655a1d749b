// DaemonLog: what the daemon decided that no single request is told of: about strangers, locks,
// devices, the disk and itself. One line each, in the file daemon.log of the state folder, which
// `berth daemon log` shows, and on standard error for whoever runs the daemon in the foreground.
//
// A file that is full is kept as daemon.log.1 and begun anew, so that both together have a bound. A
// line that comes again and again is written once, and then how often it came. Owned by the loop's
// thread; a disk that refuses loses lines and nothing else.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/time.h"

namespace berth {

class DaemonLog {
 public:
  /// Until open() lines go to standard error alone.
  void open(std::string path);

  /// Without a newline at its end; what would break the line is replaced.
  void write(std::string_view text);
  template <typename... Values>
  void write(fmt::format_string<Values...> text, Values&&... values) {
    write(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
  }

 private:
  void put(std::string_view text);
  void begin_anew();

  std::string path_;
  Fd file_;
  std::size_t size_ = 0;
  std::string last_;
  std::uint64_t repeated_ = 0;  // how often `last_` came again
};

}  // namespace berth
