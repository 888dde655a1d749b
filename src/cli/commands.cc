#include "cli/commands.h"

#include <fmt/format.h>

#include <cstdio>

namespace berth {

int report(std::string_view command, const Error& error) {
  fmt::print(stderr, "{}: {}\n", command, error.message);
  return exit_code(error.code);
}

}  // namespace berth
