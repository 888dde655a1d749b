#include "core/recipe_kin.h"

#include <algorithm>
#include <vector>

namespace berth {
namespace {

/// The words of a command, after the line of its project.
std::vector<std::string_view> words_of(std::string_view key) {
  std::vector<std::string_view> words;
  std::string_view rest = key.substr(std::min(key.size(), key.find('\n') + 1));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" \t\n="), rest.size());
    if (end > 0) {
      words.push_back(rest.substr(0, end));
    }
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return words;
}

bool is_option(std::string_view word) { return word.starts_with('-'); }

bool has_number(std::string_view word) { return word.find('#') != word.npos; }

bool is_script(std::string_view word) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{".py", ".sh", ".jl", ".R"},
                             [&](std::string_view ending) { return word.ends_with(ending); });
}

/// Whether the program is another one, or does another thing, when this word is another.
bool is_fixed(const std::vector<std::string_view>& words, std::size_t at) {
  return at == 0 || (at == 1 && !is_option(words[1])) || words[at - 1] == "-m" ||
         is_option(words[at]) || has_number(words[at]) || is_script(words[at]);
}

}  // namespace

std::string family_of(std::string_view key) {
  std::string family(key.substr(0, std::min(key.size(), key.find('\n') + 1)));
  const std::vector<std::string_view> words = words_of(key);
  for (std::size_t i = 0; i < words.size(); ++i) {
    family += is_fixed(words, i) ? words[i] : "*";
    family += ' ';
  }
  return family;
}

int likeness(std::string_view key, std::string_view other) {
  const std::vector<std::string_view> one = words_of(key);
  const std::vector<std::string_view> two = words_of(other);
  if (one.size() != two.size()) {
    return 0;
  }
  int same = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    same += one[i] == two[i] ? 1 : 0;
  }
  return 2 * same >= static_cast<int>(one.size()) ? same : 0;
}

}  // namespace berth
