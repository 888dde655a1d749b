"""The options of job lines mean the same to `berth run` and to `berth submit`."""

import json
import os
import unittest

from life_case import LifeCase

GIB = 1 << 30
# What is said of a job, what it needs in words, what the queue has of it, and how its lines end:
# state and attempts of each.
DONE = [("succeeded", 1)]
OPTIONS = {
    "nothing": ("true", "1 GPU", {"gpus_needed": 1, "mem": None, "claim": "auto", "name": ""}, DONE),
    "gpus": ("@gpus=2 true", "2 GPUs", {"gpus_needed": 2}, DONE),
    "no gpus": ("@gpus=0 true", "a CPU slot", {"gpus_needed": 0}, DONE),
    "mem": ("@mem=4GiB true", "1 GPU with 4.0 GiB", {"mem": 4 * GIB, "claim": "given"}, DONE),
    "mem=auto": ("@mem=auto true", "1 GPU", {"mem": None, "claim": "auto"}, DONE),
    "mem=off": ("@mem=off true", "1 GPU", {"mem": None, "claim": "off"}, DONE),
    "share": ("@share=30 true", "1 GPU at 30%", {"share": 300}, DONE),
    "a claim without a gpu": ("@mem=4GiB @share=30 @gpus=0 true", "a CPU slot",
                              {"gpus_needed": 0, "mem": None, "claim": "auto", "share": None}, DONE),
    "mps=off": ("@mps=off true", "1 GPU", {}, DONE),
    "mps without a gpu": ("@gpus=0 @mps=50 true", "a CPU slot", {"thread_percentage": None}, DONE),
    "name": ("@name=n true", "1 GPU", {"name": "n"}, DONE),
    "project": ("@project=p true", "1 GPU", {"project": "p"}, DONE),
    "weight": ("@weight=3 true", "1 GPU", {"weight": 3}, DONE),
    "priority": ("@gpus=2 @priority=5 echo late >> ledger\n@gpus=2 @priority=-5 echo soon >> ledger",
                 "2 GPUs", {"priority": 5}, DONE * 2),
    "timeout": ("@timeout=100ms sleep 100", "1 GPU", {"timeout_s": 0.1}, [("timed_out", 1)]),
    "timeout=0": ("@timeout=0 sleep 0.05", "1 GPU", {"timeout_s": None}, DONE),
    "expected": ("@expected=10m true", "1 GPU", {"expected_s": 600}, DONE),
    "retries": ("@retries=2 false", "1 GPU", {"retries": 2}, [("failed", 3)]),
    "after": ("@name=a false\n@after=any:a true\n@after=notok:1 true\n@after=ok:a true\n@after=2,3 true",
              "1 GPU", {"name": "a"}, [("failed", 1)] + DONE * 2 + [("cancelled", 0)] + DONE),
}
LEDGERS = {"priority": "soon\nlate\n"}

# Lines that are refused, and what both say of them.
WRONG = {
    "@gpus=-1 x": "line 1 gpus must be from 0 to 1000000, not -1",
    "@gpus=1000001 x": "line 1 gpus must be from 0 to 1000000",
    "@gpus=x x": "line 1 gpus must be a whole number, not 'x'",
    "@gpus=3 x": "there are only 2 here",
    "@mem=0 x": "line 1 a claim of memory must be more than 0",
    "@mem=lots x": "line 1 'lots' is not a memory claim",
    "@share=0 x": "line 1 share must be from 1 to 100, not 0",
    "@mps=0 x": "line 1 mps is on, off, or a percentage from 1 to 100",
    "@priority=1000001 x": "line 1 priority must be from -1000000 to 1000000",
    "@weight=0 x": "line 1 weight must be from 1 to 10000, not 0",
    "@timeout=soon x": "line 1 'soon' is not a duration",
    "@retries=10001 x": "line 1 retries must be from 0 to 10000, not 10001",
    "@after=nobody x": "line 1: there is no earlier job 'nobody' to follow",
    "@after=1 x": "line 1: there is no earlier job '1' to follow",
    "@after=ok: x": "line 1 after needs a job",
    "@name= x": "line 1 @name= needs a value",
    "@cpus=1 x": "line 1 unknown option @cpus",
    "@gpus=1": "line 1 has options but no command",
}


class Agreement(LifeCase):
    def lines(self, text):
        with open(self.path("lines"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
        if os.path.exists(self.path("ledger")):
            os.remove(self.path("ledger"))
        return self.path("lines")

    def ledger(self):
        return self.read("ledger") if os.path.exists(self.path("ledger")) else ""

    def run_ends(self, *words):
        """State and attempts of each job of a `berth run`."""
        ran = self.berth("run", "--json", *words, code=None).splitlines()
        over = {event["job"]: event for event in map(json.loads, ran) if event["event"] == "end"}
        return [(over[job]["state"], over[job]["attempt"]) for job in sorted(over)]

    def test_each_option(self):
        queued = 0
        for name, (text, needs, fields, ends) in OPTIONS.items():
            with self.subTest(name):
                rehearsed = self.berth("run", "-n", self.lines(text))
                self.assertEqual(rehearsed.split("\t")[0], needs)
                self.assertEqual(self.run_ends(self.lines(text)), ends)
                self.assertEqual(self.ledger(), LEDGERS.get(name, ""))
                self.berth("submit", "--file", self.lines(text))
                self.berth("wait", code=None)
                jobs = self.jobs()[queued:]
                queued += len(jobs)
                self.assertEqual([(job["state"], job["attempt"]) for job in jobs], ends)
                self.assertEqual({key: jobs[0].get(key) for key in fields}, fields)
                self.assertEqual(self.ledger(), LEDGERS.get(name, ""))

    def test_each_mistake(self):
        for text, said in WRONG.items():
            with self.subTest(text):
                self.assertIn(said.removeprefix("line 1 "), self.fails("run", self.lines(text)))
                self.assertIn(said.removeprefix("line 1 "),
                              self.fails("submit", "--file", self.lines(text)))

    def test_defaults_of_all_lines_give_way(self):
        """What a line says counts, also where that is what is said of nothing."""
        words = ("--mem", "4GiB", "--share", "30", "--timeout", "60ms", "--retries", "2", "--weight", "5")
        rows = {  # needs, what the queue has of it, and how it ends
            "@gpus=0 true": ("a CPU slot", {"mem": None, "claim": "auto", "share": None}, DONE),
            "@timeout=0 sleep 0.1": ("1 GPU with 4.0 GiB at 30%", {"timeout_s": None}, DONE),
            "@retries=0 false": ("1 GPU with 4.0 GiB at 30%", {"retries": None}, [("failed", 1)]),
            "@mem=auto true": ("1 GPU at 30%", {"mem": None, "claim": "auto"}, DONE),
            "@mem=off true": ("1 GPU at 30%", {"mem": None, "claim": "off"}, DONE),
            "@weight=1 true": ("1 GPU with 4.0 GiB at 30%", {"weight": None}, DONE),
        }
        text = self.lines("\n".join(rows))
        rehearsed = self.berth("run", "-n", *words, text).splitlines()
        self.assertEqual([line.split("\t")[0] for line in rehearsed], [row[0] for row in rows.values()])
        ends = [end for row in rows.values() for end in row[2]]
        self.assertEqual(self.run_ends(*words, text), ends)
        self.berth("submit", *words, "--file", text)
        self.berth("wait", code=None)
        jobs = self.jobs()
        self.assertEqual([(job["state"], job["attempt"]) for job in jobs], ends)
        for job, (_, fields, _) in zip(jobs, rows.values()):
            self.assertEqual({key: job.get(key) for key in fields}, fields)
        self.berth("submit", "--priority", "5", "--file", self.lines("@priority=0 true"))
        self.assertNotIn("priority", self.show(len(rows) + 1))

    def test_flags(self):
        """The same on the command line, for one job."""
        self.berth("submit", "--gpus", "0", "--mem", "4GiB", "--share", "30", "true")
        self.berth("submit", "--timeout", "0", "sleep 0.05")
        self.berth("wait")
        first, second = self.jobs()
        self.assertEqual((first.get("mem"), first["claim"], first.get("share")), (None, "auto", None))
        self.assertEqual(second["state"], "succeeded")
        self.assertEqual(self.run_ends("--timeout", "0", self.lines("sleep 0.05")), DONE)
        for key, value, said in (("gpus", "-1", "gpus must be from 0"), ("share", "0", "from 1 to 100"),
                                 ("retries", "10001", "to 10000"), ("weight", "0", "from 1"),
                                 ("priority", "1000001", "to 1000000"), ("mem", "0", "more than 0")):
            self.assertIn(said, self.fails("submit", f"--{key}={value}", "true"))
            if key not in ("gpus", "priority"):
                self.assertIn(said, self.fails("run", f"--{key}={value}", self.lines("true")))

    def test_a_sweep(self):
        """The options before a template's command are those of its jobs, run or queued."""
        words = ("sweep", "@gpus={n} @name=s{n} @retries=1 false {n}", "-p", "n", "0", "2")
        printed = self.lines(self.berth(*words))
        self.assertEqual(self.run_ends(printed), [("failed", 2)] * 2)
        needs = self.berth(*words, "--run", "-n")
        self.assertEqual(needs, self.berth("run", "-n", printed))
        self.assertEqual([line.split("\t")[0] for line in needs.splitlines()], ["a CPU slot", "2 GPUs"])
        self.berth(*words, "--submit", "--name", "w")
        self.berth("wait", code=None)
        self.assertEqual([(job["command"], job["gpus_needed"], job["name"], job["sweep"], job["attempt"])
                          for job in self.jobs()],
                         [(f"false {n}", n, f"s{n}", "w", 2) for n in (0, 2)])
        wrong = ("sweep", "@gpus={n} true", "-p", "n", "1", "x")
        self.assertIn("nothing was run: point 2 gpus must be a whole number, not 'x'",
                      self.fails(*wrong, "--run"))
        self.assertIn("nothing was queued: point 2 gpus must be a whole number, not 'x'",
                      self.fails(*wrong, "--submit", "--name", "w"))


if __name__ == "__main__":
    unittest.main()
