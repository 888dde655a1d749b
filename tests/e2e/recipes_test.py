"""berth recipes evaluate: the learner on jobs of the past."""

import json
import random
import unittest

from run_case import RunCase


class Evaluate(RunCase):
    def file(self, *lines):
        with open(self.path("jobs.csv"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return self.path("jobs.csv")

    def stream(self, jobs=60):
        """Memory grows with the batch size; each job has another seed."""
        chance = random.Random(1)
        lines = ["command,peak_mib,seconds"]
        for seed in range(jobs):
            batch = chance.randint(4, 256)
            peak = (1500 + 60 * batch) * chance.uniform(0.95, 1.05)
            lines.append(f"train.py --batch {batch} --seed {seed},{peak:.1f},{chance.uniform(90, 110):.1f}")
        return self.file(*lines)

    def evaluate(self, *words):
        return json.loads(self.berth("recipes", "evaluate", *words, "--json").stdout)

    def test_berth_foretells_what_the_simple_rules_do_not(self):
        found = self.evaluate(self.stream())
        self.assertEqual(found["jobs"], 60)
        self.assertEqual(found["exact_matching"]["claimed"], 0)
        self.assertGreaterEqual(found["berth"]["claimed"], 50)
        self.assertLessEqual(found["berth"]["out_of_memory"], 1)

        def waste(rule):
            return found[rule]["wasted_bytes"] / found[rule]["claimed_bytes"]
        self.assertLess(waste("berth"), 0.3)
        self.assertLess(waste("berth"), waste("fixed_margin"))
        self.assertEqual(found["lengths"]["expected"], 60 - 19)
        self.assertGreater(found["lengths"]["within"], 30)

    def test_a_higher_risk_claims_less(self):
        jobs = self.stream()
        sure, bold = self.evaluate(jobs), self.evaluate(jobs, "--oom-risk", "30%")
        self.assertEqual((sure["oom_risk"], bold["oom_risk"]), (0.01, 0.3))
        self.assertLess(bold["berth"]["claimed_bytes"] / bold["berth"]["claimed"],
                        sure["berth"]["claimed_bytes"] / sure["berth"]["claimed"])

    def test_the_table(self):
        text = self.berth("recipes", "evaluate", self.file(
            "peak_mib,note,command", "4000,a,train.py --batch 8", "4100,b,train.py --batch 8")).stdout
        lines = [line.split() for line in text.splitlines()]
        self.assertEqual(lines[1], ["berth", "50.0", "%", "0.0", "%", "7.2", "%"])
        self.assertEqual(lines[2][:2], ["exact", "matching"])
        self.assertEqual(lines[3][:2], ["fixed", "margin"])
        self.assertEqual(len(lines), 4, text)

    def test_errors_name_the_line(self):
        for lines, words in (
                (["command,peak", "a,1"], "line 1: the first line must name the columns"),
                (["command,peak_mib", "a,1", "b,x"], "line 3: peak_mib"),
                (["command,peak_mib", "a,0"], "line 2: peak_mib must be more than 0"),
                (["command,peak_mib", ",5"], "line 2: there is no command"),
                (["command,peak_mib,seconds", "a,5,-1"], "line 2: seconds must not be negative"),
                (["command,peak_mib"], "there are no jobs in it")):
            with self.subTest(words):
                done = self.berth("recipes", "evaluate", self.file(*lines), code=2)
                self.assertIn("jobs.csv: " + words, done.stderr)
        self.assertIn("--oom-risk must be between",
                      self.berth("recipes", "evaluate", "jobs.csv", "--oom-risk", "0", code=2).stderr)
        self.assertIn("unknown verb 'list'", self.berth("recipes", "list", "x", code=2).stderr)
        self.assertNotEqual(self.berth("recipes", "evaluate", "none.csv", code=None).returncode, 0)


if __name__ == "__main__":
    unittest.main()
