// DaemonLog: what the daemon decided that no single request is told of: about strangers, locks,
// devices, the disk and itself. One line each, in the file daemon.log of the state folder, which
// `berth daemon log` shows, and on standard error for whoever runs the daemon in the foreground.
//
// A file that is full is kept as daemon.log.1 and begun anew, so that both together have a bound. A
// line that comes again and again, also between others, is written once, and then how often it
// came; after some minutes it is news again. Owned by the loop's
// thread; a disk that refuses loses lines and nothing else.
#pragma once

#include <fmt/core.h>

#include <ctime>
#include <deque>
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
  struct Recent {
    std::string text;
    std::uint64_t times = 0;
    std::time_t since = 0;
  };
  std::deque<Recent> recent_;  // the newest last
};

}  // namespace berth
