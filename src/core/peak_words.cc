#include "core/peak_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

/// "--batch-size=" without what surrounds the name.
std::string_view bare(std::string_view word) {
  constexpr std::string_view kAround = "-=:+'\"[](),{}";
  const std::size_t first = std::min(word.find_first_not_of(kAround), word.size());
  word.remove_prefix(first);
  return word.substr(0, word.find_last_not_of(kAround) + 1);
}

/// The name of a number, from the word in which it stands, up to it, and the word before.
std::string name_of(std::string_view word, std::string_view before, std::size_t place) {
  const std::string_view own = bare(word.substr(word.rfind('#') + 1));
  if (!own.empty()) {
    return std::string(own);
  }
  if (before.starts_with('-') && before.find('#') == before.npos && !bare(before).empty()) {
    return std::string(bare(before));
  }
  return fmt::format("number {}", place + 1);
}

std::string describe(const PeakFactor& factor, const std::string& name) {
  switch (factor.form) {
    case PeakFactor::Form::Number:
      return name;
    case PeakFactor::Form::Root:
      return "√" + name;
    case PeakFactor::Form::Inverse:
      return "1/" + name;
    case PeakFactor::Form::Beyond:
      return fmt::format("{} beyond {}", name, factor.bend);
  }
  return "";
}

bool same(const PeakFactor& one, const PeakFactor& other) {
  return one.place == other.place && one.form == other.form && one.bend == other.bend;
}

}  // namespace

std::vector<std::string> number_names(std::string_view key) {
  const std::string_view command = key.substr(std::min(key.size(), key.find('\n') + 1));
  std::vector<std::string> names;
  std::string_view before;
  std::size_t word = 0;  // where the present one starts
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == ' ') {
      before = i > word ? command.substr(word, i - word) : before;
      word = i + 1;
    } else if (command[i] == '#' && i + 1 < command.size() && command[i + 1] == '#') {
      ++i;  // the character itself
    } else if (command[i] == '#') {
      names.push_back(name_of(command.substr(word, i - word), before, names.size()));
    }
  }
  return names;
}

std::string describe(const PeakShape& shape, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < shape.factors.size(); ++i) {
    const PeakFactor& factor = shape.factors[i];
    const std::string name = factor.place < names.size()
                                 ? names[factor.place]
                                 : fmt::format("number {}", factor.place + 1);
    if (i > 1 && same(factor, shape.factors[i - 1]) && same(factor, shape.factors[i - 2])) {
      parts.back() = describe(factor, name) + "³";  // no shape has more
    } else if (i > 0 && same(factor, shape.factors[i - 1])) {
      parts.back() += "²";
    } else {
      parts.push_back(describe(factor, name));
    }
  }
  return fmt::format("{}", fmt::join(parts, " × "));
}

}  // namespace berth
