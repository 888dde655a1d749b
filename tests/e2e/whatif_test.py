"""berth whatif: what the daemon has run, or is to run, under other policies."""
import csv
import json
import os
import unittest

from daemon_case import DaemonCase


class WhatifTest(DaemonCase):
    devices = "sim:1"

    def results(self, *words):
        answer = json.loads(self.berth("whatif", *words, "--json"))
        return {result["policy"]: result for result in answer["results"]}

    def test_the_past(self):
        self.start_daemon()
        self.assertIn("no job has run yet", self.try_berth("whatif").stderr)
        self.berth("daemon", "pause")
        for seconds in ("0.5", "0.01", "0.01", "0.01"):
            self.berth("submit", "--", "sleep", seconds)
        self.berth("daemon", "resume")
        self.berth("wait")
        results = self.results("--policy", "fifo,oracle:sjf")
        self.assertEqual(list(results), ["recorded", "fifo", "oracle:sjf"])
        self.assertTrue(all(result["jobs"] == 4 for result in results.values()))
        # The short ones need not have waited for the long one.
        self.assertLess(results["oracle:sjf"]["mean_wait_s"], results["recorded"]["mean_wait_s"])
        recorded = results["recorded"]
        waits = [job["started"] - job["submitted"] for job in self.jobs()]
        self.assertAlmostEqual(recorded["mean_wait_s"], sum(waits) / 4, places=3)
        page = os.path.join(self.folder, "page.html")
        self.berth("whatif", "--policy", "fifo", "--report", page)
        with open(page) as file:
            self.assertIn("recorded", file.read())

    def test_the_present(self):
        self.start_daemon()
        self.berth("daemon", "pause")
        for gpus in ("1", "1", "1"):
            self.berth("submit", "--gpus", gpus, "--", "true")
        out = os.path.join(self.folder, "starts.csv")
        results = self.results("--queue", "--policy", "fifo", "--gpus", "2", "--jobs", out)
        self.assertEqual(list(results), ["fifo"])
        with open(out) as file:
            starts = [float(row["start_s"]) for row in csv.DictReader(file)]
        # Nobody knows how long they take: an hour is reckoned with.
        self.assertEqual(starts, [0, 0, 3600])


if __name__ == "__main__":
    unittest.main()
