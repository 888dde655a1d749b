"""berth batch --submit: the rows of a file as jobs of the daemon."""

import json
import unittest

from daemon_case import DaemonCase

HEADER = "Directory,Executable,Filename,Epochs,Priority\n"


class Submit(DaemonCase):
    devices = "sim:1"

    def setUp(self):
        super().setUp()
        self.write("train.sh", 'echo "$@" >> ledger\n')

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def table(self, *rows):
        self.write("t.csv", HEADER + "".join(f".,sh,train.sh,{epochs},{priority}\n"
                                             for epochs, priority in rows))

    def states(self):
        rows = json.loads(self.berth("batch", "t.csv", "--status", "--json"))["rows"]
        return [(row["state"], row["id"], row["job"]) for row in rows]

    def test_batches_follow_each_other_by_priority(self):
        self.start_daemon()
        self.table((5, 2), (6, 1), (7, -9), (8, 0))
        self.berth("daemon", "pause")
        self.assertEqual(self.berth("batch", "t.csv", "--num", "2", "--submit").split(), ["1-4"])
        self.assertEqual(self.states(), [("submitted", n, n) for n in (1, 2, 3, 4)])
        self.berth("daemon", "resume")
        self.berth("wait")
        # The third row has the lowest number of all, but is not in the first batch.
        self.assertEqual(self.read("ledger").splitlines(),
                         ["--epochs=6 --id=2", "--epochs=5 --id=1", "--epochs=7 --id=3",
                          "--epochs=8 --id=4"])
        self.assertEqual([job["name"] for job in self.jobs()],
                         ["task-1", "task-2", "task-3", "task-4"])

    def test_rows_are_queued_once(self):
        self.start_daemon()
        self.table((5, 0))
        self.berth("batch", "t.csv", "--submit")
        again = self.try_berth("batch", "t.csv", "--submit")
        self.assertEqual(again.returncode, 0)
        self.assertIn("nothing to run", again.stderr)
        self.table((5, 0), (6, 0))
        self.assertEqual(self.berth("batch", "t.csv", "--submit").strip(), "2")
        self.berth("wait")
        self.assertEqual(len(self.jobs()), 2)

    def test_killed_before_it_was_written_down(self):
        self.start_daemon()
        self.table((5, 0), (6, 0))
        self.berth("batch", "t.csv", "--submit")
        # As if it had died when the daemon had answered; a row has come since.
        journal = self.read("t.csv.berth").splitlines(keepends=True)
        self.write("t.csv.berth",
                   "".join(line for line in journal if not line.startswith("submitted")))
        self.table((5, 0), (6, 0), (7, 0))
        self.assertEqual(self.berth("batch", "t.csv", "--submit").split(), ["1-2", "3"])
        self.berth("wait")
        self.assertEqual(len(self.read("ledger").splitlines()), 3)
        self.assertEqual(self.states(), [("succeeded", n, n) for n in (1, 2, 3)])

    def test_failures_in_the_queue_are_run_again_when_asked(self):
        self.start_daemon()
        self.write("train.sh", 'echo "$@" >> ledger; case "$*" in *=6*) test -e mended || exit 3;; esac\n')
        self.table((5, 0), (6, 0))
        self.berth("batch", "t.csv", "--submit")
        self.try_berth("wait")
        told = self.try_berth("batch", "t.csv", "--submit")
        self.assertEqual(told.returncode, 1)
        self.assertIn("1 of them failed (--rerun-failed runs those again)", told.stderr)
        self.write("mended", "")
        self.assertEqual(self.berth("batch", "t.csv", "--submit", "--rerun-failed").split(), ["3"])
        self.berth("wait")
        self.assertEqual(self.states(), [("succeeded", 1, 1), ("succeeded", 2, 3)])
        self.assertEqual(len(self.read("ledger").splitlines()), 3)
        self.assertIn("all rows are done", self.try_berth("batch", "t.csv", "--rerun-failed").stderr)


if __name__ == "__main__":
    unittest.main()
