// What Args tells about itself: the help, the manual page, and the words for completion.
#include <fmt/format.h>

#include <algorithm>

#include "cli/toolkit/args.h"
#include "cli/toolkit/table.h"

namespace berth {
namespace {

/// The text in lines of at most `width` columns, wherever its own line breaks are.
std::string reflowed(std::string text, std::size_t width, std::size_t indent) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return indent_lines(wrap_words(text, width - indent), indent);
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// For troff, which takes a dot at the start of a line and every backslash and dash for its own.
std::string troff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '.' && (escaped.empty() || escaped.back() == '\n')) {
      escaped += "\\&.";
    } else if (c == '\'' && (escaped.empty() || escaped.back() == '\n')) {
      escaped += "\\&'";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string Args::help_for(std::string_view word) const {
  return asks_for_help(word)      ? help()
         : word == "--help-man"   ? man()
         : word == "--help-words" ? words()
                                  : "";
}

std::vector<Args::HelpRow> Args::help_rows() const {
  std::vector<HelpRow> rows;
  for (const auto* words : {&positional_, &rest_help_}) {
    if (words->has_value()) {
      rows.push_back({(*words)->metavar, (*words)->help});
    }
  }
  for (const Option& option : options_) {
    std::string names = fmt::format("{}", fmt::join(option.names, ", "));
    if (option.kind == Kind::OptionalValue) {
      names += (option.may_follow ? " [" : "[=") + option.metavar + "]";
    } else if (!option.metavar.empty()) {
      names += " " + option.metavar;
    }
    rows.push_back({std::move(names), option.help});
  }
  return rows;
}

std::string Args::help() const {
  constexpr std::size_t kWidth = 80;
  constexpr std::size_t kColumn = 26;
  constexpr std::string_view kUsage = "usage: ";
  std::string text = fmt::format("{}{}\n\n{}\n", kUsage, reflowed(usage_, kWidth, kUsage.size()),
                                 reflowed(summary_, kWidth, 0));
  const std::vector<HelpRow> rows = help_rows();
  if (!rows.empty()) {
    text += "\n";
  }
  for (const HelpRow& row : rows) {
    std::string line = "  " + row.names;
    const std::size_t width = display_width(line);
    if (width + 2 > kColumn) {
      line += "\n" + std::string(kColumn, ' ');
    } else {
      line.append(kColumn - width, ' ');
    }
    text += line + reflowed(row.help, kWidth, kColumn) + "\n";
  }
  if (!examples_.empty()) {
    text += "\nExamples:\n";
    for (const std::string& line : examples_) {
      text += "  " + line + "\n";
    }
  }
  return text;
}

std::string Args::man() const {
  // "berth gpus drain NAME…" is the page berth-gpus-drain.
  std::string name;
  std::string_view left = usage_;
  while (!left.empty() && (left[0] >= 'a' && left[0] <= 'z')) {
    const std::size_t end = std::min(left.find(' '), left.size());
    name += (name.empty() ? "" : "-") + std::string(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  const std::string summary = on_one_line(summary_);
  std::string text =
      fmt::format(".TH {} 1\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n", name,
                  troff(name), troff(summary.substr(0, summary.find_first_of(".:"))),
                  troff(on_one_line(usage_)), troff(summary));
  text += ".SH OPTIONS\n";
  for (const HelpRow& row : help_rows()) {
    text += fmt::format(".TP\n.B {}\n{}\n", troff(row.names), troff(on_one_line(row.help)));
  }
  if (!examples_.empty()) {
    text += ".SH EXAMPLES\n.nf\n";
    for (const std::string& line : examples_) {
      text += troff(line) + "\n";
    }
    text += ".fi\n";
  }
  return text + ".SH SEE ALSO\n.BR berth (1)\n";
}

std::string Args::words() const {
  std::string text;
  for (const Option& option : options_) {
    const std::string help = on_one_line(option.help);
    for (const std::string& name : option.names) {
      text += fmt::format("{}\t{}\n", name, help);
    }
  }
  return text;
}

}  // namespace berth
