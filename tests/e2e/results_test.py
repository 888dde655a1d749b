"""berth results: the jobs of a sweep beside what they have found."""

import csv
import io
import json
import unittest

from life_case import LifeCase


class Results(LifeCase):
    def setUp(self):
        super().setUp()
        self.berth("submit", "true")
        self.berth("sweep", "echo step 1 acc={a}; echo acc=$(({a} * {b})); test {a}{b} != 23", "-p", "a", "1", "2",
                   "-p", "b", "10", "3", "--submit", "--name", "S", "--gpus", "0")
        self.berth("wait", "1-5", code=1)

    def test_a_table(self):
        lines = self.berth("results", "--metric", "acc", "--sort", "-acc").splitlines()
        self.assertEqual(lines[0].split(), ["ID", "a", "b", "STATE", "TIME", "EXIT", "acc"])
        self.assertEqual([(line.split()[:4], line.split()[-1]) for line in lines[1:]],
                         [(["4", "2", "10", "succeeded"], "20"), (["2", "1", "10", "succeeded"], "10"),
                          (["5", "2", "3", "failed"], "6"), (["3", "1", "3", "succeeded"], "3")])
        self.assertEqual(self.berth("results", "1").splitlines()[0].split()[:3], ["ID", "NAME", "STATE"])
        self.assertIn("results are not sorted by c", self.fails("results", "--sort", "c"))
        self.assertIn("is not a regular expression", self.fails("results", "--metric", "("))
        self.assertEqual(self.try_berth("results", "sweep=other").stderr, "no job matches\n")

    def test_csv_and_json(self):
        rows = list(csv.DictReader(io.StringIO(
            self.berth("results", "sweep=S", "state=failed", "--csv", "--metric", r"acc=(\d)"))))
        self.assertEqual([(row["id"], row["a"], row["b"], row["state"], row["exit"], row[r"acc=(\d)"])
                          for row in rows], [("5", "2", "3", "failed", "1", "6")])
        self.assertGreaterEqual(float(rows[0]["seconds"]), 0)
        told = json.loads(self.berth("results", "sweep=S", "--json", "--metric", "acc", "--metric", "none"))
        self.assertEqual(told["version"], 1)
        self.assertEqual([(one["id"], one["parameters"], one["exit_code"], one["metrics"])
                          for one in told["results"]],
                         [(2, {"a": "1", "b": "10"}, 0, {"acc": "10"}), (3, {"a": "1", "b": "3"}, 0, {"acc": "3"}),
                          (4, {"a": "2", "b": "10"}, 0, {"acc": "20"}), (5, {"a": "2", "b": "3"}, 1, {"acc": "6"})])

    def test_only_the_end_of_a_log_is_read(self):
        self.berth("submit", "--wait", "echo far=1; head -c 300000 /dev/zero | tr '\\0' '\\n'; echo near=2")
        row = json.loads(self.berth("results", "--json", "--metric", "far", "--metric", "near"))["results"][0]
        self.assertEqual(row["metrics"], {"near": "2"})


if __name__ == "__main__":
    unittest.main()
