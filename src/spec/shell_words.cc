#include "spec/shell_words.h"

namespace berth {

std::string shell_words(std::span<const std::string_view> words) {
  std::string command;
  for (const std::string_view word : words) {
    command += command.empty() ? "" : " ";
    const bool plain =
        !word.empty() && word.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "@%_-+=:,./") == word.npos;
    if (plain) {
      command += word;
      continue;
    }
    command += '\'';
    for (const char c : word) {
      command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    command += '\'';
  }
  return command;
}

bool ends_in_background(std::string_view command) {
  const std::size_t last = command.find_last_not_of(" \t\n;");
  return last != command.npos && command[last] == '&' &&
         (last == 0 || (command[last - 1] != '&' && command[last - 1] != '\\'));
}

}  // namespace berth
