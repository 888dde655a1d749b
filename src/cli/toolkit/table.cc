#include "cli/toolkit/table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace berth {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kLeastWidth = 4;
/// What is left of a yielding column before others shrink.
constexpr std::size_t kLeastYielded = 12;

struct Glyph {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

using Range = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::array kCombining = {Range{0x0300, 0x036f}, Range{0x200b, 0x200f},
                                   Range{0x20d0, 0x20ff}, Range{0xfe00, 0xfe0f}};
constexpr std::array kWide = {
    Range{0x1100, 0x115f},   Range{0x2e80, 0xa4cf},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
    Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1faff}, Range{0x20000, 0x3fffd}};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, std::uint32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [point](const Range& range) {
    return point >= range.first && point <= range.second;
  });
}

/// The character that `text`, which is not empty, begins with.
Glyph first_glyph(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length <= 1 || length > text.size()) {
    return {};
  }
  std::uint32_t point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return {};
    }
    point = point << 6 | (byte(i) & 0x3fU);
  }
  return {length, within(kCombining, point) ? 0U : within(kWide, point) ? 2U : 1U};
}

std::string_view code(Colour colour) {
  switch (colour) {
    case Colour::Plain:
      return "";
    case Colour::Dim:
      return "\x1b[2m";
    case Colour::Red:
      return "\x1b[31m";
    case Colour::Green:
      return "\x1b[32m";
    case Colour::Yellow:
      return "\x1b[33m";
  }
  return "";
}

void append_cell(std::string& line, std::string_view text, std::size_t width, Align align,
                 std::string_view style) {
  const std::string shown = truncate_to_width(text, width);
  const std::string padding(width - display_width(shown), ' ');
  line += align == Align::Right ? padding : "";
  line += style;
  line += shown;
  line += style.empty() ? "" : "\x1b[0m";
  line += align == Align::Left ? padding : "";
}

void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

}  // namespace

void Table::column(std::string header, Align align) {
  columns_.push_back({std::move(header), align});
}

void Table::optional_column(std::string header, Align align) {
  columns_.push_back({std::move(header), align, true});
}

void Table::row(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  for (Cell& cell : cells) {
    cell.text = printable(cell.text);
  }
  rows_.push_back(std::move(cells));
}

void Table::yielding_column(std::string header) {
  columns_.push_back({std::move(header), Align::Left, false, true});
}

std::vector<std::size_t> Table::shown() const {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool says_something =
        std::any_of(rows_.begin(), rows_.end(),
                    [i](const std::vector<Cell>& cells) { return !cells[i].text.empty(); });
    if (!columns_[i].optional || says_something) {
      shown.push_back(i);
    }
  }
  return shown;
}

std::vector<std::size_t> Table::widths(const std::vector<std::size_t>& shown,
                                       std::size_t columns) const {
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (const std::size_t i : shown) {
    std::size_t width = display_width(columns_[i].header);
    for (const std::vector<Cell>& cells : rows_) {
      width = std::max(width, display_width(cells[i].text));
    }
    total += width + (widths.empty() ? 0 : kGap.size());
    widths.push_back(width);
  }
  for (std::size_t i = 0; i < shown.size() && columns > 0; ++i) {
    if (columns_[shown[i]].yields && total > columns && widths[i] > kLeastYielded) {
      const std::size_t less = std::min(total - columns, widths[i] - kLeastYielded);
      widths[i] -= less;
      total -= less;
    }
  }
  while (columns > 0 && total > columns) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (widest == widths.end() || *widest <= kLeastWidth) {
      break;
    }
    --*widest;
    --total;
  }
  return widths;
}

std::string Table::render(std::size_t columns, bool colour) const {
  const std::vector<std::size_t> shown = this->shown();
  const std::vector<std::size_t> width = widths(shown, columns);
  std::string text;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Column& column = columns_[shown[i]];
    text += i > 0 ? kGap : "";
    append_cell(text, column.header, width[i], column.align, colour ? "\x1b[1m" : "");
  }
  end_line(text);
  for (const std::vector<Cell>& cells : rows_) {
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const Cell& cell = cells[shown[i]];
      text += i > 0 ? kGap : "";
      append_cell(text, cell.text, width[i], columns_[shown[i]].align,
                  colour ? code(cell.colour) : "");
    }
    end_line(text);
  }
  return text;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    width += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return width;
}

std::string truncate_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) {
    return std::string(text);
  }
  if (width == 0) {
    return "";
  }
  std::size_t bytes = 0;
  std::size_t used = 1;  // the ellipsis
  while (true) {
    const Glyph glyph = first_glyph(text.substr(bytes));
    if (used + glyph.columns > width) {
      break;
    }
    used += glyph.columns;
    bytes += glyph.bytes;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

std::string wrap_words(std::string_view text, std::size_t width) {
  std::string wrapped;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t columns = display_width(word);
    const bool fits = width == 0 || used + 1 + columns <= width;
    if (!wrapped.empty()) {
      wrapped += fits ? ' ' : '\n';
    }
    used = wrapped.empty() || !fits ? columns : used + 1 + columns;
    wrapped += word;
  }
  return wrapped;
}

std::string indent_lines(std::string_view lines, std::size_t blanks) {
  std::string text;
  for (const char c : lines) {
    text += c;
    if (c == '\n') {
      text.append(blanks, ' ');
    }
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      c = '?';
    }
  }
  return shown;
}

}  // namespace berth
