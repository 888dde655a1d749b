// Args: the command line of one subcommand. Declare each option with the place for its value, then
// parse.
//
// Written here rather than taken from a library because the tools whose names berth also answers to
// use single-dash words (`-gc 2`) and repeated open-ended lists (`-p lr 1 2 -p bs 32 64`), and
// because a client that is called in a shell loop must parse and start in well under a millisecond.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace berth {

class Args {
 public:
  using Setter = std::function<Result<void>(std::string_view)>;
  using ListSetter = std::function<Result<void>(std::span<const std::string_view>)>;

  /// `usage` is the text after "usage: ", `summary` the paragraph below it.
  Args(std::string usage, std::string summary);

  /// `names` are separated by commas: "-q,--quiet". Options appear in the help in the order of
  /// declaration.
  void flag(std::string names, bool& out, std::string help);
  /// One value: `--name VALUE` or `--name=VALUE`.
  void value(std::string names, std::string metavar, std::string help, Setter set);
  void value(std::string names, std::string metavar, std::string help, std::string& out);
  void value(std::string names, std::string metavar, std::string help,
             std::optional<std::string>& out);
  void value(std::string names, std::string metavar, std::string help, std::int64_t& out);
  void value(std::string names, std::string metavar, std::string help, Duration& out);
  void value(std::string names, std::string metavar, std::string help, Bytes& out);
  /// Takes all words up to the next option. The option may be repeated, and `set` is then called
  /// again. With `more`, words after the first belong to the list only while `more` returns true.
  void list(std::string names, std::string metavar, std::string help, ListSetter set,
            std::function<bool(std::string_view)> more = {});
  /// A flag whose value is optional: bare `--name` calls `set` with "". A value is attached
  /// (`--name=VALUE`). With `may_follow`, it may also be the next word, unless that word looks like
  /// an option or `is_value` returns false for it.
  void optional_value(std::string names, std::string metavar, std::string help, Setter set,
                      bool may_follow = false, std::function<bool(std::string_view)> is_value = {});

  /// Words that are not options, with one setter call each, in order. At most `most` words.
  void positional(std::string metavar, std::string help, std::size_t least, std::size_t most,
                  Setter set);
  /// Everything from the first positional word (or after `--`) on, untouched.
  void rest(std::string metavar, std::string help, ListSetter set);

  /// Accepts the options of `other`, too, except those that have a name declared here. The help
  /// does not list them. `other` must outlive this object.
  void accept_also(const Args& other) { also_ = &other; }
  /// The options declared so far may be shortened as Python's argparse allows it: `--gpu` for
  /// `--gpus`, `-n20` for `-n 20`. For the names of tools that are written in Python.
  void abbreviate();

  /// A line under "Examples:" in the help.
  void example(std::string line);

  /// False when `--help`, `--help-man` or `--help-words` was given and that was printed; otherwise
  /// all setters have run.
  Result<bool> parse(std::span<const std::string_view> words);

  /// At most 80 columns wide, whatever line breaks the texts have.
  std::string help() const;
  /// The same as a page for man(1).
  std::string man() const;
  /// Each option and its help, separated by a tab, for completion.
  std::string words() const;

 private:
  enum class Kind { Flag, Value, OptionalValue, List };
  struct Option {
    std::vector<std::string> names;
    std::string metavar;
    std::string help;
    Kind kind = Kind::Flag;
    bool* flag = nullptr;
    Setter set;
    ListSetter set_list;
    std::function<bool(std::string_view)> more;
    bool may_follow = false;
    bool may_be_short = false;
  };
  /// An option as a word names it.
  struct Named {
    const Option* option = nullptr;
    std::string_view name;
    std::optional<std::string_view> attached;
  };
  struct Positional {
    std::string metavar;
    std::string help;
    std::size_t least = 0;
    std::size_t most = 0;
    Setter set;
  };

  void add(std::string names, std::string metavar, std::string help, Kind kind, bool* flag,
           Setter set, ListSetter set_list);
  struct HelpRow {
    std::string names;
    std::string help;
  };
  std::vector<HelpRow> help_rows() const;
  /// What --help and its like print; empty for any other word.
  std::string help_for(std::string_view word) const;
  const Option* find(std::string_view name) const;
  Result<Named> read_name(std::string_view word) const;
  Result<Named> read_short_name(std::string_view word) const;
  bool asks_for_help(std::string_view word) const;
  bool looks_like_option(std::string_view word) const;
  Failure unknown(std::string_view word) const;
  Result<std::size_t> take_option(std::span<const std::string_view> words, std::size_t at);

  std::string usage_;
  std::string summary_;
  std::vector<Option> options_;
  std::optional<Positional> positional_;
  std::optional<Positional> rest_help_;
  ListSetter rest_;
  std::vector<std::string> examples_;
  const Args* also_ = nullptr;
};

}  // namespace berth
