// DaemonLog: the daemon's decisions that no single request is told about: on strangers, locks,
// devices, the disk and itself. Each is one line in the file daemon.log of the state folder, which
// `berth daemon log` shows. Each also goes to standard error, for a daemon that runs in the
// foreground.
//
// A full file is renamed to daemon.log.1 and a new one is begun, so that both together have a
// bounded size. A line that repeats, even with other lines in between, is written once, and then
// with its count. After some minutes it is news again. Owned by the loop's thread. If the disk
// refuses writes, only lines are lost.
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
  /// Until open() is called, lines go to standard error alone.
  void open(std::string path);

  /// `text` has no newline at its end. Characters that would break the line are replaced.
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
