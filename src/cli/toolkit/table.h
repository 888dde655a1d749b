// Table: rows of text under headers, laid out to fit a terminal. Build it, render it, drop it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

enum class Align { Left, Right };
enum class Colour { Plain, Dim, Red, Green, Yellow };

struct Cell {
  std::string text;
  Colour colour = Colour::Plain;

  Cell(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  Cell(std::string_view words) : text(words) {}        // NOLINT(google-explicit-constructor)
  Cell(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  Cell(std::string words, Colour hue) : text(std::move(words)), colour(hue) {}
};

class Table {
 public:
  /// Columns first, then rows.
  void column(std::string header, Align align = Align::Left);
  /// A column that vanishes when it has nothing to say.
  void optional_column(std::string header, Align align = Align::Left);
  /// A column that shrinks before any other does.
  void yielding_column(std::string header);
  /// One cell per column; missing ones are empty.
  void row(std::vector<Cell> cells);

  /// The table as lines that end in a newline. If lines would be wider than `columns` (0: no
  /// limit), yielding columns shrink first, then the widest column step by step; cut cells end in
  /// "…".
  std::string render(std::size_t columns, bool colour) const;

 private:
  struct Column {
    std::string header;
    Align align;
    bool optional = false;
    bool yields = false;
  };
  /// The indices of the columns that are shown.
  std::vector<std::size_t> shown() const;
  std::vector<std::size_t> widths(const std::vector<std::size_t>& shown, std::size_t columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// The number of terminal columns that a UTF-8 text takes. Wide East Asian characters and most
/// emoji count as two, combining marks as none, a byte that is not UTF-8 as one.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns; ends in "…" where it was cut.
std::string truncate_to_width(std::string_view text, std::size_t width);

/// `text` with newlines in place of some blanks, so that no line is wider than `width` (0: no
/// limit) unless a single word is.
std::string wrap_words(std::string_view text, std::size_t width);

/// `lines` with this many blanks before each line but the first.
std::string indent_lines(std::string_view lines, std::size_t blanks);

/// `text` with control characters, which could move the cursor or worse, replaced by '?'.
std::string printable(std::string_view text);

}  // namespace berth
