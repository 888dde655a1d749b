"""`berth queue`: the order, the columns and what is left out."""

import unittest

from life_case import LifeCase


class Queue(LifeCase):
    devices = "sim:1"

    def ids(self, *words):
        """The numbers in the order of the table, and its last line."""
        done = self.try_berth("queue", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(line.split()[0]) for line in done.stdout.splitlines()[1:]], done.stderr.strip()

    def test_running_first_then_by_start_then_the_newest_ends(self):
        self.berth("submit", "--wait", "true")
        self.berth("submit", "--wait", "true")
        self.berth("submit", "--hold", "true")
        self.make_gates("gate")
        self.berth("submit", "--wait", "true")
        self.berth("submit", "--expected", "1h", "read x < gate")
        self.until_running(5)
        self.berth("submit", "--array", "3", "true")
        self.berth("submit", "-p", "-9", "true")
        live, counts = self.ids()
        self.assertEqual(live, [5, 9, 6, 7, 8, 3])
        self.assertEqual(counts, "1 held, 4 queued, 1 running")
        everything, _ = self.ids("--all")
        self.assertEqual(everything, [5, 9, 6, 7, 8, 3, 4, 2, 1])

    def test_what_is_left_out_is_counted(self):
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("submit", "--array", "150", "true")
        shown, counts = self.ids()
        self.assertEqual(len(shown), 100)
        self.assertEqual(counts, "150 queued; 50 more not shown (--limit 0 shows all)")
        self.assertEqual(len(self.ids("--limit", "0")[0]), 150)
        self.assertEqual(self.ids("-n", "2", "100-150"), ([100, 101],
                                                          "51 queued; 49 more not shown (--limit 0 shows all)"))

    def test_columns_say_what_they_mean_and_vanish_when_empty(self):
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("submit", "--name", "plain", "true")
        head, row = self.berth("queue").splitlines()
        self.assertEqual(head.split(), ["ID", "STATE", "NAME", "GPUS", "TIME", "COMMAND"])
        self.assertRegex(row, r"^ *1  queued  plain  any +waits [0-9.]+\w+ +true$")
        self.berth("submit", "--gpus", "0", "--mem", "1GiB", "-p", "3", "true")
        self.berth("submit", "--mem", "5GiB", "true")
        head = self.berth("queue").splitlines()[0]
        self.assertEqual(head.split(), ["ID", "STATE", "NAME", "GPUS", "MEMORY", "PRIO", "TIME",
                                        "COMMAND"])
        self.assertIn("needs 5.0 GiB", self.berth("queue", "3"))
        self.assertRegex(self.berth("queue", "2"), r"(?m)^ *2  queued  none ")
        self.assertEqual(self.berth("queue", "--columns", "id,priority,exit").splitlines()[0].split(),
                         ["ID", "PRIO", "EXIT"])
        self.assertIn("there is no column 'colour'",
                      self.fails("queue", "--columns", "id,colour"))

    def test_jobs_of_a_sweep_are_told_apart(self):
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("sweep", "train {lr} {bs} {seed}", "-p", "lr", "0.1", "0.01", "-p", "bs", "32",
                   "64", "-p", "seed", "1", "--submit", "--name", "search")
        rows = self.berth("queue").splitlines()[1:]
        self.assertIn("  bs=32 lr=0.1  ", rows[0])
        self.assertIn("  bs=64 lr=0.01  ", rows[3])
        self.berth("submit", "true")
        self.assertIn("  search bs=32 lr=0.1  ", self.berth("queue").splitlines()[1])

    def test_sorting(self):
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        for name in ("b", "c", "a"):
            self.berth("submit", "--name", name, "true")
        self.assertEqual(self.ids("--sort", "name")[0], [3, 1, 2])
        self.assertEqual(self.ids("--sort", "-name")[0], [2, 1, 3])
        self.assertIn("jobs cannot be sorted by 'size'", self.fails("queue", "--sort", "size"))


if __name__ == "__main__":
    unittest.main()
