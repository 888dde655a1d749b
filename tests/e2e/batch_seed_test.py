"""berth batch with the command lines of the priority-based scheduler, as its program takes them."""

import json
import os
import unittest

from batch_case import COLUMNS, BatchCase
from daemon_case import DaemonCase
from gpu_case import BERTH

HEADER = ",".join(COLUMNS) + "\n"


class SeedOptions(BatchCase):
    def run_words(self, *words, code=0):
        return self.run_jobs("", "--profile-epochs", "0", *words, gpus=self.gpus, code=code,
                             program=(BERTH, "batch"))

    def test_short_options(self):
        self.script("a.sh")
        self.table([("a.sh", 3, 1), ("a.sh", 4, 0)])
        self.run_words("-c", "t.csv", "-n", "1", "--header", "0", "-m", "False")
        self.assertEqual(self.completed(), [1, 2])

    def test_the_page_and_the_program_name_the_percentage_differently(self):
        self.script("a.sh")
        self.table([("a.sh", 3, 1)])
        for option in ("--thread_percentage", "--threads_percentage", "--thread-percentage"):
            self.assertIn("needs --mps", self.run_words("--csv", "t.csv", "--mps", "False", option,
                                                        "50", code=2).stderr)
        self.assertIn("True or False", self.run_words("--csv", "t.csv", "--mps=maybe",
                                                      code=2).stderr)

    def test_the_file_of_the_example(self):
        """`Copy commands.csv to commands_1.csv in scheduler_files/. Run python scheduler.py.`"""
        self.script("a.sh")
        os.mkdir(self.path("scheduler_files"))
        os.rename(self.table([("a.sh", 3, 1)]), self.path("scheduler_files/commands_1.csv"))
        self.run_words()
        self.assertEqual(self.completed(), [1])

    def test_arguments_in_the_columns(self):
        self.write("show.sh", 'echo "$- $@" >> said\n')
        self.write("t.csv", HEADER + f"{self.home},sh -u,show.sh --id 5 'a b',3,1\n")
        self.run_words("--csv", "t.csv")
        flags, words = self.read("said").rstrip("\n").split(" ", 1)
        self.assertIn("u", flags)
        self.assertEqual(words, "--id 5 a b --epochs=3 --id=1")

    def test_ids_count_over_files(self):
        self.script("a.sh")
        self.table([("a.sh", 3, 1), ("a.sh", 3, 1)])
        self.table([("a.sh", 3, 1)], name="other.csv")
        self.run_words("t.csv")
        self.run_words("other.csv")
        self.run_words("t.csv", "--restart")
        self.assertEqual(self.completed(), [1, 2, 3, 4, 5])


class Mps(BatchCase):
    def test_the_word_after_mps_is_not_the_file(self):
        self.script("a.sh")
        self.table([("a.sh", 3, 1)])
        for words in (("--mps", "t.csv"), ("-m", "True", "t.csv")):
            done = self.run_jobs("", *words, gpus=self.gpus, code=None, program=(BERTH, "batch"))
            self.assertNotIn("which file?", done.stderr)
            self.assertNotIn("unexpected word", done.stderr)


class Queued(DaemonCase):
    devices = "sim:1"

    def test_status_knows_how_queued_tasks_end(self):
        with open(self.path("train.sh"), "w", encoding="utf-8") as file:
            file.write('case "$*" in *--epochs=6*) exit 3;; esac\n')
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write(HEADER + "".join(f".,sh,train.sh,{epochs},0\n" for epochs in (5, 6, 7)))
        self.start_daemon()
        self.berth("daemon", "pause")
        self.berth("batch", "t.csv", "--submit")
        self.assertEqual(self.states(), [("submitted", None)] * 3)
        self.berth("daemon", "resume")
        self.berth("wait", "1", "2", "3", code=None)
        self.assertEqual(self.states(),
                         [("succeeded", None), ("failed", "exit 3"), ("succeeded", None)])
        text = self.berth("batch", "t.csv", "--status")
        self.assertIn("failed (exit 3)", text)
        self.assertIn("2 succeeded, 1 failed", text)
        self.kill_daemon()
        ends = self.states()  # starts the daemon anew
        self.berth("daemon", "stop")
        self.assertEqual(ends, [("succeeded", None), ("failed", "exit 3"), ("succeeded", None)])

    def states(self):
        rows = json.loads(self.berth("batch", "t.csv", "--status", "--json"))["rows"]
        return [(row["state"], row["reason"]) for row in rows]


if __name__ == "__main__":
    unittest.main()
