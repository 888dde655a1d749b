"""`berth bench`: figures of this machine, and nothing left of how they were taken."""

import json
import os
import unittest

from daemon_case import DaemonCase


class Bench(DaemonCase):
    def test_figures(self):
        figures = json.loads(self.berth("bench", "--json"))
        self.assertEqual(figures["version"], 1)
        for name in ("jobs_per_second", "shells_per_second", "submissions_per_second",
                     "starts_per_second", "job_ms", "shell_ms"):
            self.assertGreater(figures[name], 0, name)
        for name in ("gap_ms", "sync_ms"):
            self.assertLessEqual(figures[name]["p50"], figures[name]["p99"], name)
        self.assertEqual(figures["slots"], 2 * figures["cores"])
        self.assertEqual(os.listdir(self.home), [], "it tidies up")
        self.assertEqual(self.named("berth"), [])

    def test_words(self):
        out = self.berth("bench")
        self.assertRegex(out, r"A job costs [\d.]+ ms of this machine here, of which [\d.]+ ms are "
                              r"its shell\.")
        self.assertRegex(out, "after the end of the one before it")

    def test_usage(self):
        self.berth("bench", "now", code=2)


if __name__ == "__main__":
    unittest.main()
