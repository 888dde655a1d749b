#include "cli/toolkit/args.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/nearest.h"
#include "cli/toolkit/words.h"

namespace berth {
namespace {

std::vector<std::string> split_names(std::string_view names) {
  const std::vector<std::string_view> parts = split(names, ',');
  return {parts.begin(), parts.end()};
}

/// "-5" and "-.5e3" are values, not options.
bool is_negative_number(std::string_view word) {
  return word.size() > 1 && word[0] == '-' &&
         ((word[1] >= '0' && word[1] <= '9') || word[1] == '.');
}

Failure in_option(std::string_view name, const Error& error) {
  return fail(error.code, fmt::format("{}: {}", name, error.message));
}

}  // namespace

Args::Args(std::string usage, std::string summary)
    : usage_(std::move(usage)), summary_(std::move(summary)) {}

void Args::add(std::string names, std::string metavar, std::string help, Kind kind, bool* flag,
               Setter set, ListSetter set_list) {
  options_.push_back({split_names(names),
                      std::move(metavar),
                      std::move(help),
                      kind,
                      flag,
                      std::move(set),
                      std::move(set_list),
                      {},
                      false,
                      false});
}

void Args::flag(std::string names, bool& out, std::string help) {
  add(std::move(names), "", std::move(help), Kind::Flag, &out, {}, {});
}

void Args::value(std::string names, std::string metavar, std::string help, Setter set) {
  add(std::move(names), std::move(metavar), std::move(help), Kind::Value, nullptr, std::move(set),
      {});
}

void Args::value(std::string names, std::string metavar, std::string help, std::string& out) {
  value(std::move(names), std::move(metavar), std::move(help),
        [&out](std::string_view word) -> Result<void> {
          out = word;
          return {};
        });
}

void Args::value(std::string names, std::string metavar, std::string help,
                 std::optional<std::string>& out) {
  value(std::move(names), std::move(metavar), std::move(help),
        [&out](std::string_view word) -> Result<void> {
          out = std::string(word);
          return {};
        });
}

void Args::value(std::string names, std::string metavar, std::string help, std::int64_t& out) {
  value(std::move(names), std::move(metavar), std::move(help),
        [&out](std::string_view word) -> Result<void> {
          const auto number = parse_integer(word, "the value");
          if (!number) {
            return Failure(number.error());
          }
          out = *number;
          return {};
        });
}

void Args::value(std::string names, std::string metavar, std::string help, Duration& out) {
  value(std::move(names), std::move(metavar), std::move(help),
        [&out](std::string_view word) -> Result<void> {
          const auto length = parse_duration(word);
          if (!length) {
            return Failure(length.error());
          }
          out = *length;
          return {};
        });
}

void Args::value(std::string names, std::string metavar, std::string help, Bytes& out) {
  value(std::move(names), std::move(metavar), std::move(help),
        [&out](std::string_view word) -> Result<void> {
          const auto size = parse_bytes(word);
          if (!size) {
            return Failure(size.error());
          }
          out = *size;
          return {};
        });
}

void Args::list(std::string names, std::string metavar, std::string help, ListSetter set,
                std::function<bool(std::string_view)> more) {
  add(std::move(names), std::move(metavar), std::move(help), Kind::List, nullptr, {},
      std::move(set));
  options_.back().more = std::move(more);
}

void Args::optional_value(std::string names, std::string metavar, std::string help, Setter set,
                          bool may_follow, std::function<bool(std::string_view)> is_value) {
  add(std::move(names), std::move(metavar), std::move(help), Kind::OptionalValue, nullptr,
      std::move(set), {});
  options_.back().may_follow = may_follow;
  options_.back().more = std::move(is_value);
}

void Args::positional(std::string metavar, std::string help, std::size_t least, std::size_t most,
                      Setter set) {
  positional_ = Positional{std::move(metavar), std::move(help), least, most, std::move(set)};
}

void Args::rest(std::string metavar, std::string help, ListSetter set) {
  rest_help_ = Positional{std::move(metavar), std::move(help), 0, 0, {}};
  rest_ = std::move(set);
}

void Args::abbreviate() {
  for (Option& option : options_) {
    option.may_be_short = true;
  }
}

void Args::example(std::string line) { examples_.push_back(std::move(line)); }

const Args::Option* Args::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) {
      return &option;
    }
  }
  return also_ != nullptr ? also_->find(name) : nullptr;
}

bool Args::looks_like_option(std::string_view word) const {
  return word.size() > 1 && word[0] == '-' && (!is_negative_number(word) || find(word) != nullptr);
}

Failure Args::unknown(std::string_view word) const {
  std::vector<std::string_view> names;
  for (const Args* args = this; args != nullptr; args = args->also_) {
    for (const Option& option : args->options_) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  const std::string_view meant = nearest(word, names);
  return fail(ErrorCode::Usage,
              meant.empty() ? fmt::format("unknown option {} (--help lists them)", word)
                            : fmt::format("unknown option {}: did you mean {}?", word, meant));
}

Result<Args::Named> Args::read_name(std::string_view word) const {
  const std::size_t equals = word.find('=');
  Named named{nullptr, word.substr(0, equals), {}};
  if (equals != word.npos) {
    named.attached = word.substr(equals + 1);
  }
  named.option = find(named.name);
  return named.option != nullptr ? Result<Named>(named) : read_short_name(word);
}

Result<Args::Named> Args::read_short_name(std::string_view word) const {
  const std::string_view typed = word.substr(0, word.find('='));
  std::vector<Named> matches;
  std::string could_be;
  for (const Option& option : options_) {
    for (const std::string& name : option.names) {
      Named match{&option, name, {}};
      const bool begins =
          name.starts_with(typed) && name.starts_with("--") == typed.starts_with("--");
      const bool has_value =
          !word.starts_with("--") && option.kind != Kind::Flag && name == word.substr(0, 2);
      if (begins && typed.size() < word.size()) {
        match.attached = word.substr(typed.size() + 1);
      } else if (!begins && has_value) {
        match.attached = word.substr(2);
      }
      const bool again = !matches.empty() && matches.back().option == &option;
      if (option.may_be_short && (begins || has_value) && !again) {
        matches.push_back(match);
        could_be += (could_be.empty() ? "" : ", ") + name;
      }
    }
  }
  const bool may_be_help = !matches.empty() && std::string_view("--help").starts_with(typed);
  if (matches.size() + (may_be_help ? 1 : 0) > 1) {
    return fail(ErrorCode::Usage, fmt::format("ambiguous option: {} could match {}{}", typed,
                                              may_be_help ? "--help, " : "", could_be));
  }
  return matches.empty() ? Result<Named>(unknown(typed)) : Result<Named>(matches.front());
}

bool Args::asks_for_help(std::string_view word) const {
  if (find(word) != nullptr) {
    return false;
  }
  const bool shortened =
      word.size() > 2 && std::string_view("--help").starts_with(word) &&
      std::any_of(options_.begin(), options_.end(),
                  [](const Option& option) { return option.may_be_short; }) &&
      std::none_of(options_.begin(), options_.end(), [&](const Option& option) {
        return option.may_be_short &&
               std::any_of(option.names.begin(), option.names.end(),
                           [&](const std::string& name) { return name.starts_with(word); });
      });
  return word == "--help" || word == "-h" || shortened;
}

/// Handles the option at words[at]; returns the index of the first word after it.
Result<std::size_t> Args::take_option(std::span<const std::string_view> words, std::size_t at) {
  const Result<Named> named = read_name(words[at]);
  if (!named) {
    return Failure(named.error());
  }
  const Option* option = named->option;
  const std::string_view name = named->name;
  std::optional<std::string_view> attached = named->attached;
  std::size_t next = at + 1;
  Result<void> done;
  switch (option->kind) {
    case Kind::Flag:
      if (attached) {
        return fail(ErrorCode::Usage, fmt::format("{} takes no value", name));
      }
      *option->flag = true;
      break;
    case Kind::OptionalValue:
      if (!attached && option->may_follow && next < words.size() &&
          !looks_like_option(words[next]) && (!option->more || option->more(words[next]))) {
        attached = words[next++];
      }
      done = option->set(attached.value_or(""));
      break;
    case Kind::Value:
      if (!attached) {
        if (next == words.size()) {
          return fail(ErrorCode::Usage, fmt::format("{} needs a value: {}", name, option->metavar));
        }
        attached = words[next++];
      }
      done = option->set(*attached);
      break;
    case Kind::List: {
      std::vector<std::string_view> items;
      if (attached) {
        items.push_back(*attached);
      }
      while (next < words.size() && !looks_like_option(words[next]) &&
             (items.empty() || !option->more || option->more(words[next]))) {
        items.push_back(words[next++]);
      }
      if (items.empty()) {
        return fail(ErrorCode::Usage, fmt::format("{} needs a value: {}", name, option->metavar));
      }
      done = option->set_list(items);
      break;
    }
  }
  if (!done) {
    return in_option(name, done.error());
  }
  return next;
}

Result<bool> Args::parse(std::span<const std::string_view> words) {
  std::size_t count = 0;
  std::size_t at = 0;
  bool only_words = false;
  while (at < words.size()) {
    const std::string_view word = words[at];
    if (!only_words && word == "--") {
      only_words = true;
      ++at;
      continue;
    }
    if (!only_words) {
      if (const std::string text = help_for(word); !text.empty()) {
        std::fputs(text.c_str(), stdout);
        return false;
      }
    }
    if (!only_words && looks_like_option(word)) {
      const Result<std::size_t> next = take_option(words, at);
      if (!next) {
        return Failure(next.error());
      }
      at = *next;
      continue;
    }
    if (positional_ && count < positional_->most) {
      if (const Result<void> done = positional_->set(word); !done) {
        return Failure(done.error());
      }
      ++count;
      ++at;
      continue;
    }
    if (rest_) {
      if (const Result<void> done = rest_(words.subspan(at)); !done) {
        return Failure(done.error());
      }
      break;
    }
    return fail(ErrorCode::Usage,
                fmt::format("unexpected word '{}' (--help shows the usage)", word));
  }
  if (positional_ && count < positional_->least) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is missing (--help shows the usage)", positional_->metavar));
  }
  return true;
}

}  // namespace berth
