#include "cli/toolkit/words.h"

#include <cstdlib>

#include "base/text.h"

namespace berth {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(take_until(text, separator));
  }
  return parts;
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace berth
