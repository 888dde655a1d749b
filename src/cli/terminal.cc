#include "cli/terminal.h"

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
  terminal.interactive = true;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal.colour = (no_colour == nullptr || *no_colour == '\0') && kind != nullptr &&
                    *kind != '\0' && std::string_view(kind) != "dumb";
  winsize size{};
  constexpr std::size_t kUsualColumns = 80;
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  terminal.columns = known ? size.ws_col : kUsualColumns;
  constexpr std::size_t kUsualRows = 24;
  terminal.rows = known && size.ws_row > 0 ? size.ws_row : kUsualRows;
  return terminal;
}

}  // namespace berth
