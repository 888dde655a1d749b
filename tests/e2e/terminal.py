"""A terminal small enough to be sure of: what a program drew, as a person would see it."""

import re
import unicodedata

ESCAPE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


class Screen:
    """Keeps all lines that were ever shown; an unknown escape is an error."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [""]
        self.row = self.column = 0
        self.widest = 0
        self.colours = 0
        self.hidden = False
        self.coloured = False

    def feed(self, text):
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = ESCAPE.match(text, at)
                assert match, f"unknown escape {text[at:at + 8]!r}"
                self.escape(*match.groups())
                at = match.end()
                continue
            self.put(text[at])
            at += 1

    def escape(self, value, what):
        if what == "A":
            assert int(value or 1) <= self.row, "moved above the first line"
            self.row -= int(value or 1)
        elif what == "J":
            assert value in ("", "0")
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]
        elif what == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif what == "m":
            self.colours += 1
            self.coloured = value not in ("", "0")
        elif value == "?25":
            self.hidden = what == "l"
        else:
            raise AssertionError(f"unknown escape {value}{what}")

    def put(self, letter):
        if letter == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append("")
        elif letter == "\r":
            self.column = 0
        else:
            assert letter >= " ", f"control character {letter!r}"
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[:self.column] + letter + line[self.column + 1:]
            self.column += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
            self.widest = max(self.widest, self.column)
