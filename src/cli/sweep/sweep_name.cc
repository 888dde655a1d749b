#include "cli/sweep/sweep_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace berth {
namespace {

constexpr std::size_t kLongestProgram = 40;

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A word that says how the program is run rather than which: an interpreter, an option, a
/// variable.
bool is_prefix(std::string_view word) {
  constexpr std::string_view kInterpreters[] = {"python", "python3", "bash", "sh",  "env",
                                                "time",   "nice",    "uv",   "run", "torchrun"};
  return word.starts_with('-') || word.find('=') != word.npos ||
         std::find(std::begin(kInterpreters), std::end(kInterpreters), word) !=
             std::end(kInterpreters);
}

/// "train" of "/opt/python3 -u src/train.py --lr {lr}".
std::string program_of(std::string_view command) {
  while (!command.empty()) {
    const std::size_t space = std::min(command.find(' '), command.size());
    std::string_view word = command.substr(0, space);
    command.remove_prefix(std::min(space + 1, command.size()));
    word.remove_prefix(word.rfind('/') + 1);
    if (word.empty() || is_prefix(word)) {
      continue;
    }
    const auto* const end = std::find_if_not(word.begin(), word.end(), is_plain);
    const std::string name(word.begin(), end);
    if (!name.empty()) {
      return name.substr(0, kLongestProgram);
    }
  }
  return "sweep";
}

}  // namespace

std::string usual_sweep_name(std::string_view command, std::time_t now) {
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{}-{:02}{:02}-{:02}{:02}{:02}", program_of(command), local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

}  // namespace berth
