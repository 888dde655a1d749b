#include "cli/toolkit/question.h"

#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace berth {

bool can_ask() { return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0; }

bool is_agreed(std::string_view question) {
  fmt::print(stderr, "{} [y/N] ", question);
  const std::string answer = read_answer();
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// Not by std::cin: a program that has one sets up all locales' parts at each start.
std::string read_answer() {
  char* line = nullptr;
  std::size_t room = 0;
  const ssize_t length = ::getline(&line, &room, stdin);
  std::string answer(line, length > 0 ? static_cast<std::size_t>(length) : 0);
  ::free(line);
  if (answer.ends_with('\n')) {
    answer.pop_back();
  }
  return answer;
}

}  // namespace berth
