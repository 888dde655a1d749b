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

    def test_lengths_beyond_all_time(self):
        """Two jobs of 285 years, one after the other, end later than the clock can count."""
        self.start_daemon()
        self.berth("daemon", "pause")
        self.berth("submit", "--array", "2", "--expected", "9000000000s", "true")
        fifo = self.results("--queue", "--policy", "fifo")["fifo"]
        self.assertGreaterEqual(fifo["makespan_s"], 9e9)

    def test_the_past_as_a_workload(self):
        self.start_daemon()
        self.berth("submit", "--project", "a", "--mem", "1GiB", "--weight", "3", "--expected", "5s",
                   "--array", "2", "--", "sleep 0.05")
        self.berth("wait")
        gpus = os.path.join(self.folder, "gpus.csv")
        with open(gpus, "w") as file:
            file.write("model,count,memory,full_w\nt4,2,16GiB,80\n")
        answer = json.loads(self.berth("sim", "--history", "--gpus", gpus, "--policy", "fifo", "--json"))
        self.assertEqual((answer["gpus"], answer["results"][0]["jobs"]), (2, 2))
        out = os.path.join(self.folder, "ours.csv")
        self.berth("sim", "convert", "--history", out)
        with open(out) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["job_id"], row["user"], row["gpus"], row["gpu_mem_mib"], row["expected_s"])
                          for row in rows], [(n, "a", "1", "1024", "5") for n in ("1", "2")])
        same = json.loads(self.berth("sim", "--trace", out, "--gpus", gpus, "--policy", "fifo", "--json"))
        self.assertAlmostEqual(same["results"][0]["makespan_s"], answer["results"][0]["makespan_s"],
                               places=3)
        told = json.loads(self.berth("sim", "--history", "--policy", "fifo", "--json"))
        self.assertEqual(told["gpus"], 1)  # the daemon's own
        advice = json.loads(self.berth("sim", "--advise", "--history", "--json"))
        self.assertEqual((advice["in_use"], advice["best"], advice["jobs"], advice["enough"]),
                         ("priority", "priority", 2, False))
        for words, says in ((["--trace", out], "--gpus is missing"),
                            (["--history", "--gpus", "none.csv"], "none.csv"),
                            (["convert", "--history", "a", "b"], "name one trace, or --history")):
            done = self.try_berth("sim", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)

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
        self.assertEqual([start - starts[0] for start in starts], [0, 0, 3600])


if __name__ == "__main__":
    unittest.main()
