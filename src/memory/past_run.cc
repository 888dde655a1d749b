#include "memory/past_run.h"

#include <fmt/format.h>

#include <charconv>

namespace berth {
namespace {

using Milliseconds = std::chrono::duration<std::int64_t, std::milli>;

/// Longer ones make no sense, and would not fit into a Duration.
constexpr Milliseconds kLongest = std::chrono::hours(24 * 365 * 100);

// "PEAK\tNUMBER,NUMBER\tKEY\n" or "PEAK/MILLISECONDS/USER\tNUMBER,NUMBER\tKEY\n", with \n, \t and
// \\ for those characters in the key. A berth that knows the first form only passes over the
// second.

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  const bool there = text.starts_with(c);
  text.remove_prefix(there ? 1 : 0);
  return there;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      plain += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// The peak and the length, up to the tab. False when they make no sense.
bool take_measures(std::string_view& line, PastRun& run) {
  if (!take_number(line, run.peak.count) || run.peak < Bytes{}) {
    return false;
  }
  if (take(line, '/')) {
    std::int64_t count = 0;
    if (!take_number(line, count) || count < 0 || count > kLongest.count()) {
      return false;
    }
    run.length = Milliseconds(count);
    if (take(line, '/') && !take_number(line, run.user)) {
      return false;
    }
  }
  return (run.peak > Bytes{} || run.length) && take(line, '\t');
}

}  // namespace

std::string line_of(const PastRun& run) {
  std::string line = fmt::format("{}", run.peak.count);
  if (run.length) {
    line += fmt::format("/{}/{}", std::chrono::duration_cast<Milliseconds>(*run.length).count(),
                        run.user);
  }
  line += fmt::format("\t{}\t", fmt::join(run.recipe.numbers, ","));
  for (const char c : run.recipe.key) {
    if (c == '\n' || c == '\t' || c == '\\') {
      line += '\\';
    }
    line += c == '\n' ? 'n' : c == '\t' ? 't' : c;
  }
  return line + '\n';
}

std::optional<PastRun> parse_past_run(std::string_view line) {
  PastRun run;
  if (!take_measures(line, run)) {
    return std::nullopt;
  }
  while (!line.empty() && line.front() != '\t') {
    double number = 0;
    if (!take_number(line, number)) {
      return std::nullopt;
    }
    run.recipe.numbers.push_back(number);
    (void)take(line, ',');
  }
  if (!take(line, '\t')) {
    return std::nullopt;
  }
  run.recipe.key = unescaped(line);
  return run;
}

}  // namespace berth
