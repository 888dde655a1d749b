#include "cli/toolkit/watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "base/units.h"
#include "cli/toolkit/terminal.h"

namespace berth {
namespace {

/// Over what is there, line by line: clearing the screen first would flicker.
std::string over_the_last(std::string text) {
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end)) {
    text.insert(end, "\x1b[K");
    end += 4;
  }
  return "\x1b[H" + text + "\x1b[J";
}

}  // namespace

void add_watch_option(Args& args, std::optional<Duration>& interval, std::string_view usual) {
  args.optional_value("-w,--watch", "INTERVAL",
                      fmt::format("show it again and again, every {} or as given", usual),
                      [&interval, usual](std::string_view text) -> Result<void> {
                        const Result<Duration> parsed = parse_duration(text.empty() ? usual : text);
                        if (!parsed) {
                          return Failure(parsed.error());
                        }
                        constexpr Duration kShortest = std::chrono::milliseconds(50);
                        if (*parsed < kShortest) {
                          return fail(ErrorCode::Usage, "the interval must be 50ms or more");
                        }
                        interval = *parsed;
                        return {};
                      });
}

Result<int> watch_screen(Duration interval, bool in_place,
                         const std::function<Result<std::string>()>& draw) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const bool over = in_place && describe_terminal(STDOUT_FILENO).interactive;
  if (over) {
    std::fputs("\x1b[2J", stdout);
  }
  const auto pause = interval.count();
  const timespec wait{pause / 1'000'000'000, pause % 1'000'000'000};
  while (std::ferror(stdout) == 0) {
    Result<std::string> screen = draw();
    if (!screen) {
      return Failure(screen.error());
    }
    std::fputs(over ? over_the_last(std::move(*screen)).c_str() : screen->c_str(), stdout);
    std::fflush(stdout);
    if (::sigtimedwait(&ends, nullptr, &wait) > 0) {
      return 0;
    }
  }
  return 1;
}

}  // namespace berth
