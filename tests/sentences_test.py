#!/usr/bin/env python3
"""Every sentence that berth can print, in one list, so that a new one is read before it is shipped.

`BERTH_ACCEPT=1 tests/sentences_test.py` writes the list anew; read its diff. The words that a list of
this size cannot be trusted to be free of are looked for here.
"""

import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden/sentences.txt"
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Not for people: names of fields, routes, SQL, formats, HTML.
FOREIGN = re.compile(r"SELECT |INSERT |UPDATE |DELETE |CREATE |PRAGMA | AND |ORDER BY|^/v1|<svg|<rect|<text|<g |<style|"
                     r"<p>|<div|<html|<h\d|<t[dhr]|stroke|^\.TH|\x1b|\\x1b|application/|HTTP/1|\{\"version")
BANNED = re.compile(r"\b(whoever|leave away|left away|found out|for ever|informations?|"
                    r"it will come|is to be|whom)\b", re.IGNORECASE)


def without_comments(text):
    """The code alone: comments hold quotes, too. A literal may hold slashes."""
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda match: match.group(1) or "", text,
                  flags=re.DOTALL)


def literals(text):
    """The texts of the file; those that only blanks separate are one."""
    joined, end = "", -1
    for match in LITERAL.finditer(text):
        if end >= 0 and text[end:match.start()].strip() == "":
            joined += match.group(1)
        else:
            yield joined
            joined = match.group(1)
        end = match.end()
    yield joined


def sentences():
    found = set()
    for path in sorted((ROOT / "src").rglob("*.cc")):
        code = without_comments(path.read_text(encoding="utf-8"))
        code = re.sub(r'R"(\w*)\(.*?\)\1"', '""', code, flags=re.DOTALL)
        code = re.sub(r"^#include.*$", "", code, flags=re.MULTILINE)
        for text in literals(code):
            text = text.replace("\\n", " ").replace('\\"', '"').strip()
            words = re.findall(r"[A-Za-z]{2,}", text)
            if len(words) >= 3 and " " in text and not FOREIGN.search(text):
                found.add(re.sub(r" +", " ", text))
    return sorted(found, key=lambda text: (text.lower(), text))


class Sentences(unittest.TestCase):
    maxDiff = None

    def test_the_list_is_up_to_date(self):
        now = "\n".join(sentences()) + "\n"
        if os.environ.get("BERTH_ACCEPT"):
            GOLDEN.write_text(now, encoding="utf-8")
        self.assertEqual(GOLDEN.read_text(encoding="utf-8"), now,
                         "read the new sentences, then run it with BERTH_ACCEPT=1")

    def test_words_that_do_not_belong(self):
        wrong = [text for text in sentences() if BANNED.search(text)]
        self.assertEqual(wrong, [])

    def test_the_collection_collects(self):
        self.assertGreater(len(sentences()), 500)
        self.assertTrue(any("did you mean" in text for text in sentences()))


if __name__ == "__main__":
    sys.exit(unittest.main())
