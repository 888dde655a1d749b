"""What the end-to-end tests of MPS share: the stand-in for NVIDIA's control daemon on PATH."""

import os
import select
import shutil
import time

FAKES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fake_mps")
DEADLINE = 60


class MpsCase:
    """Before another test case, which has an environment `env` for berth."""

    def setUp(self):
        self.places = set()
        self.addCleanup(self.remove_places)  # last, when nothing runs any more
        super().setUp()

    def remove_places(self):
        for place in self.places:
            shutil.rmtree(place, ignore_errors=True)

    def note_places(self):
        for line in self.lines():
            if len(line) == 4:
                self.places.add(os.path.dirname(line[3]))

    def use_fakes(self, folder):
        self.addCleanup(self.note_places)
        self.fake_folder = folder
        self.env["FAKE_MPS"] = folder
        self.env["PATH"] = FAKES + ":" + self.env["PATH"]

    def journal(self, verb):
        """The process ids in those lines of the stand-ins' journal that begin with this word."""
        return [int(words[1]) for words in self.lines() if words[0] == verb]

    def lines(self):
        try:
            with open(self.fake_folder + "/journal", encoding="utf-8") as file:
                return [line.rstrip("\n").split(" ") for line in file]
        except FileNotFoundError:
            return []

    def journal_has(self, verb, count=1):
        """Waits for so many such lines: a file sends no event of its own."""
        end = time.monotonic() + DEADLINE
        while len(found := self.journal(verb)) < count:
            self.assertLess(time.monotonic(), end, f"no {count} lines {verb}")
            select.select([], [], [], 0.005)
        return found

    def wish(self, name, text=""):
        """Asks something of the stand-ins."""
        with open(os.path.join(self.fake_folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    @staticmethod
    def lives(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def controls(self):
        """The control daemons that run."""
        return [pid for pid in self.journal("start") if self.lives(pid)]
