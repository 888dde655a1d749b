#include "spec/shell_words.h"

#include <algorithm>

#include "base/text.h"

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

std::string shell_words(std::span<const std::string> words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  return shell_words(std::span<const std::string_view>(views));
}

namespace {

/// Takes the quoted text at the front of `rest`, which begins with its quote.
bool take_quoted(std::string_view& rest, std::string& word) {
  const char quote = rest.front();
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == quote) {
      rest.remove_prefix(at + 1);
      return true;
    }
    // Between double quotes a backslash protects only what would be special there.
    if (quote == '"' && rest[at] == '\\' && at + 1 < rest.size() &&
        (rest[at + 1] == '"' || rest[at + 1] == '\\')) {
      ++at;
    }
    word += rest[at];
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> split_shell_words(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) {
      return words;
    }
    std::string word;
    while (!text.empty() && kBlanks.find(text.front()) == kBlanks.npos) {
      const char c = text.front();
      if (c == '\'' || c == '"') {
        if (!take_quoted(text, word)) {
          return fail(ErrorCode::Usage, std::string("a quote is not closed: ") + c);
        }
        continue;
      }
      if (c == '\\' && text.size() > 1) {
        text.remove_prefix(1);
      }
      word += text.front();
      text.remove_prefix(1);
    }
    words.push_back(std::move(word));
  }
}

std::string join_lines(std::string_view text) {
  std::string joined;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = trim(text.substr(0, end));
    if (end < text.size() && line.ends_with('\\')) {
      line = trim(line.substr(0, line.size() - 1));
    }
    if (!line.empty()) {
      joined += joined.empty() ? "" : " ";
      joined += line;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return joined;
}

}  // namespace berth
