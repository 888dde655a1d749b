#include "cli/toolkit/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace berth {

Terminal describe_terminal(int fd) {
  Terminal terminal;
  if (::isatty(fd) == 0) {
    return terminal;
  }
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal.interactive = kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
  terminal.colour = terminal.interactive && (no_colour == nullptr || *no_colour == '\0');
  winsize size{};
  constexpr std::size_t kUsualColumns = 80;
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  terminal.columns = known ? size.ws_col : kUsualColumns;
  constexpr std::size_t kUsualRows = 24;
  terminal.rows = known && size.ws_row > 0 ? size.ws_row : kUsualRows;
  return terminal;
}

}  // namespace berth
