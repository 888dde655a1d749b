"""berth recipes: what was learned, and the learner on jobs of the past."""

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
                (["command,peak_mib,seconds", "a,5,-1"], "line 2: seconds must be from 0 to a billion"),
                (["command,peak_mib"], "there are no jobs in it")):
            with self.subTest(words):
                done = self.berth("recipes", "evaluate", self.file(*lines), code=2)
                self.assertIn("jobs.csv: " + words, done.stderr)
        self.assertIn("--oom-risk must be between",
                      self.berth("recipes", "evaluate", "jobs.csv", "--oom-risk", "0", code=2).stderr)
        self.assertIn("unknown verb 'learn'", self.berth("recipes", "learn", code=2).stderr)
        self.assertNotEqual(self.berth("recipes", "evaluate", "none.csv", code=None).returncode, 0)


class Recipes(RunCase):
    def file(self, *lines):
        return self.write("runs.csv", "\n".join(("project,command,peak_mib,seconds",) + lines) + "\n")

    def setUp(self):
        super().setUp()
        lines = [f"vision,train.py --batch {batch} --seed {seed},{1000 + 50 * batch},{100 + seed}"
                 for seed, batch in enumerate((8, 16, 32, 64, 128, 24, 48, 96, 12, 80))]
        self.file(*lines, 'text,"say ""a, b"" 3",512,')
        self.berth("recipes", "import", self.path("runs.csv"))

    def listed(self, *words):
        return json.loads(self.berth("recipes", "list", "--json", *words).stdout)["recipes"]

    def test_list_and_show(self):
        text, vision = self.listed()  # the one that ran last comes first
        self.assertEqual((vision["project"], vision["command"], vision["runs"]),
                         ("vision", "train.py --batch # --seed #", 10))
        self.assertEqual((text["command"], text["runs"], text["typical_seconds"]),
                         ('say "a, b" #', 1, None))
        self.assertEqual((vision["known"], vision["grows_with"]), (True, ["batch"]))
        self.assertGreaterEqual(vision["claim_bytes"], 5000 << 20)  # of batch 80
        self.assertFalse(text["known"])
        self.assertGreaterEqual(text["more_runs"], 1)
        self.assertEqual([recipe["id"] for recipe in self.listed("--project", "vision")], [vision["id"]])
        table = self.berth("recipes").stdout
        self.assertIn("GROWS WITH", table)
        self.assertIn(vision["id"], table)
        for word in (vision["id"], vision["id"][:5], "train.py --batch 7 --seed 9"):
            self.assertIn("grows with batch", self.berth("recipes", "show", word).stdout)
        self.assertIn("nothing is known about a recipe", self.berth("recipes", "show", "x", code=None).stderr)
        self.assertIn("say berth recipes show RECIPE", self.berth("recipes", "show", code=2).stderr)

    def test_forget(self):
        text, vision = self.listed()
        self.assertIn("name what to forget", self.berth("recipes", "forget", code=2).stderr)
        self.assertEqual(self.berth("recipes", "forget", text["id"]).stdout, "forgot 1 run of 1 recipe\n")
        self.assertEqual(self.listed(), [vision])
        self.berth("recipes", "forget", "--all", "--yes")
        self.assertEqual(self.listed(), [])
        self.assertIn("nothing is learned yet", self.berth("recipes").stdout)

    def test_an_export_is_imported_again(self):
        before = self.listed()
        self.berth("recipes", "export", self.path("out.csv"))
        self.assertEqual(self.berth("recipes", "export").stdout, self.read("out.csv"))
        self.assertIn("took in 0 of 11 runs; 11 were known already",
                      self.berth("recipes", "import", self.path("out.csv")).stdout)
        self.berth("recipes", "forget", "--all")
        self.assertIn("took in 11 of 11", self.berth("recipes", "import", self.path("out.csv")).stdout)
        self.assertEqual(self.listed(), before)

    def test_files_that_make_no_sense_change_nothing(self):
        before = self.listed()
        for line, words in ((",a,x,", "line 2: peak_mib"), (",a,1e99,", "line 2: peak_mib must be"),
                            (",a,1,1e99", "line 2: seconds must be"), ('"a\nb",c,1,', "a project is one line"),
                            (f",{'x' * 140000},1,", "longer than that of any job"),
                            (",a,1,2\n,,3,4", "line 3: there is no command")):
            with self.subTest(words):
                self.file(line)
                self.assertIn(words, self.berth("recipes", "import", self.path("runs.csv"), code=2).stderr)
        self.assertIn("too long", self.berth("recipes", "import", "/dev/zero", code=2).stderr)
        self.assertEqual(self.listed(), before)


if __name__ == "__main__":
    unittest.main()
