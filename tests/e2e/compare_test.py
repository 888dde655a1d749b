"""`berth compare`: the same tasks under several policies, for real and in the simulator."""

import csv
import json
import os
import subprocess
import unittest

from run_case import BERTH, DEADLINE, RunCase

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
POLICIES = ["fifo", "rr", "lottery", "wfq", "leastloaded", "rl"]


class CompareCase(RunCase):
    def setUp(self):
        super().setUp()
        self.env["BERTH_SIM_STATE"] = self.path("devices")
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.env["B"] = BERTH

    def compare(self, *words, code=0, cwd=TOP):
        done = subprocess.run([BERTH, "compare", *words], env=self.env, cwd=cwd,
                              capture_output=True, text=True, timeout=DEADLINE * 4)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def tasks(self, *lines):
        path = self.path("tasks.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return path


class Examples(CompareCase):
    def test_under_each_policy(self):
        page, table = self.path("page.html"), self.path("table.csv")
        done = self.compare("--gpus", "sim:2", "--policy", ",".join(POLICIES), "--repeat", "2",
                            "--slice", "100ms", "--report", page, "--csv", table, "--json",
                            "examples/workloads/tasks.txt")
        reply = json.loads(done.stdout)
        self.assertIn("GPU memory stays", reply["note"])
        self.assertEqual([row["policy"] for row in reply["results"]], POLICIES)
        for row in reply["results"]:
            self.assertEqual((row["runs"], row["jobs"], row["failed"]), (2, 4, 0))
            self.assertGreater(row["energy_j"], 0)
            self.assertGreaterEqual(row["makespan_s"], row["mean_completion_s"])
            self.assertIn("makespan_s", row["ci95"])
        with open(table, encoding="utf-8") as file:
            self.assertEqual([row["policy"] for row in csv.DictReader(file)],
                             [name for name in POLICIES for _ in range(2)])
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for words in (*POLICIES, "matrix", "lstm", "who ran where", "power in watts",
                      "GPU memory stays"):
            self.assertIn(words, text)


class RoundRobin(CompareCase):
    def test_stops_jobs_and_lets_them_go_on(self):
        tasks = self.tasks(*["$B simjob --hold 1s --mem 1GiB"] * 2)
        done = self.compare("--gpus", "sim:1", "--policy", "fifo,rr", "--slice", "100ms", "--json",
                            tasks)
        fifo, turns = json.loads(done.stdout)["results"]
        self.assertEqual(fifo["stops"], 0)
        self.assertGreater(turns["stops"], 2)
        self.assertEqual(turns["failed"], 0)

    def test_a_stopped_job_can_be_ended(self):
        """A time limit finds a job that is stopped: it must hear of it."""
        process = subprocess.run(
            [BERTH, "run", "--gpus", "sim:1", "--policy", "rr", "--slice", "1h", "--grace", "1h"],
            input="sleep 1\n@timeout=200ms sleep 1000\n", env=self.env, capture_output=True,
            text=True, timeout=DEADLINE)
        self.assertEqual(process.returncode, 124, process.stderr)


class Simulated(CompareCase):
    def test_has_the_figures_of_the_study_and_ours(self):
        done = self.compare("--simulate", "--generate", "mix:n=50", "--gpus", "2", "--repeat", "3",
                            "--policy", ",".join([*POLICIES, "rl:share/models/packing.berth"]), "--json",
                            "--report", self.path("page.html"))
        rows = json.loads(done.stdout)["results"]
        self.assertEqual(len(rows), len(POLICIES) + 1)
        self.assertEqual(rows[-1]["policy"], "rl:packing.berth")
        self.assertLess(rows[-1]["makespan_s"], rows[0]["makespan_s"])
        for row in rows:
            self.assertEqual((row["jobs"], row["runs"]), (50, 3))
            self.assertGreater(row["summed_wait_s"], row["mean_wait_s"])
            self.assertLess(row["reward"], 0)


class Refusals(CompareCase):
    def test_come_before_anything_is_run(self):
        tasks = self.tasks("touch ran")
        for words, problem in (
                (["--policy", "fifo,nonesuch", tasks], "there is no policy 'nonesuch'"),
                (["--policy", "fifo,srtf", tasks], "needs preemption"),
                (["--policy", "fifo"], "name the file of the tasks"),
                (["--simulate", tasks], "--generate KIND or --trace FILE")):
            done = self.compare("--gpus", "sim:1", *words, code=2, cwd=self.home)
            self.assertIn(problem, done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))


if __name__ == "__main__":
    unittest.main()
