#include "core/recipe.h"

#include <charconv>

namespace berth {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// The end of the number that starts at `at`: digits, a fraction, an exponent.
std::size_t number_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) {
    ++end;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t digits = end + 1;
    digits += digits < text.size() && (text[digits] == '-' || text[digits] == '+') ? 1 : 0;
    if (digits < text.size() && is_digit(text[digits])) {
      while (digits < text.size() && is_digit(text[digits])) {
        ++digits;
      }
      return digits;
    }
  }
  return end;
}

/// As far as it is one: 1.2.3 counts as 1.2.
double value_of(std::string_view number) {
  double value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  return value;
}

}  // namespace

Recipe recipe_of(std::string_view project, std::string_view command) {
  Recipe recipe;
  recipe.key.reserve(project.size() + 1 + command.size());
  recipe.key += project;
  recipe.key += '\n';
  for (std::size_t i = 0; i < command.size();) {
    // A digit inside a word belongs to its name: resnet50 is not resnet101.
    if (is_digit(command[i]) && (i == 0 || !is_letter(command[i - 1]))) {
      const std::size_t end = number_end(command, i);
      recipe.key += '#';
      recipe.numbers.push_back(value_of(command.substr(i, end - i)));
      i = end;
    } else {
      recipe.key += command[i];
      if (command[i] == '#') {
        recipe.key += '#';  // so that the key tells how many numbers there are
      }
      ++i;
      while (i < command.size() && is_letter(command[i - 1]) && is_digit(command[i])) {
        do {
          recipe.key += command[i++];
        } while (i < command.size() && is_digit(command[i]));
      }
    }
  }
  return recipe;
}

}  // namespace berth
