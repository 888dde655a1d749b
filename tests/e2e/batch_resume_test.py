"""berth batch: what is done stays done, whatever ends it."""

import os
import random
import signal
import unittest

from batch_case import BatchCase, started
from gpu_case import BERTH
from run_case import events, of_kind


class Resume(BatchCase):
    def launch_batch(self, *words):
        return self.launch("t.csv", "--json", *words, gpus=self.gpus, program=(BERTH, "batch"))

    def killed(self, process):
        """kill -9, and all that it had started is gone; what it had printed."""
        process.send_signal(signal.SIGKILL)
        out = self.finish(process, code=-signal.SIGKILL)[0]
        self.eventually(lambda: not self.mine(), "its jobs live on")
        return events(out)

    def test_fifty_rows_in_batches_of_twenty(self):
        """The example of the tool that this replaces, interrupted in its second batch."""
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        scripts = ("a.sh", "b.sh", "c.sh")
        for name in scripts:
            self.script(name)
        rows = [(chance.choice(scripts), 3 + chance.randrange(50), chance.randrange(5))
                for _ in range(50)]
        self.table(rows)
        order = []  # ids, which are the numbers of the rows
        for first in range(0, 50, 20):
            order += sorted(range(first + 1, min(first + 20, 50) + 1),
                            key=lambda row: rows[row - 1][2])
        # Three at once fill the device: all before them have ended by then.
        held = order[26:29]
        self.write("hold", "".join(f"{row}\n" for row in held))
        say = self.fifo("say")
        self.fifo("go")
        process = self.launch_batch("--num", "20")
        self.assertEqual(sorted(map(int, say.lines(3))), sorted(held), f"seed {seed}")
        self.eventually(lambda: self.status()["counts"]["succeeded"] == 26)
        first = self.killed(process)
        # Jobs may run before their starts are told: the last ones are missing then.
        told = started(first)
        self.assertGreaterEqual(len(told), 26)
        self.assertEqual(told, order[:29][:len(told)], f"seed {seed}")
        self.assertEqual([row["id"] for row in self.status()["rows"]
                          if row["state"] == "interrupted"], sorted(held))
        os.remove(self.path("hold"))
        second = self.batch("--num", "20")
        self.assertEqual(started(second), order[26:], f"seed {seed}")
        # Every row came to its end once.
        self.assertEqual(sorted(self.completed()), list(range(1, 51)), f"seed {seed}")
        self.assertEqual(self.states(), ["succeeded"] * 50)
        self.assertEqual(of_kind(second, "summary")[0]["skipped"], 26)
        known = set(started(first, "profile")) | set(started(second, "profile"))
        self.assertLessEqual(len(known), 3)

    def test_killed_at_every_line_of_the_journal(self):
        self.script("a.sh", mem=20)
        rows = [("a.sh", 5, 1), ("a.sh", 6, 0), ("a.sh", 7, 0)]
        self.table(rows)
        env = dict(self.env, BERTH_FAILPOINTS="batch.journal=kill")
        self.run_jobs("", "t.csv", code=-signal.SIGKILL, gpus=self.gpus, program=(BERTH, "batch"),
                      env=env)
        self.assertEqual(self.status()["counts"]["waiting"], 3)
        self.batch("--num", "2")
        # Whenever it dies, the journal is a beginning of this one, with perhaps a torn line.
        whole = self.read("t.csv.berth").splitlines(keepends=True)
        for length in range(1, len(whole)):
            with self.subTest(length):
                self.write("t.csv.berth", "".join(whole[:length]) + whole[length][:3])
                self.write("batch-ids", "1\n")  # which was not that far either
                done = [line.split("\t")[1] for line in whole[:length]
                        if line.startswith("succeeded")]
                stream = self.batch("--num", "2")
                again = [row for row in (2, 1, 3) if str(row - 1) not in done]
                self.assertEqual(started(stream), again)
                self.assertEqual(self.states(), ["succeeded"] * 3)

    def test_interrupted_by_ctrl_c(self):
        self.script("a.sh", mem=20)
        self.table([("a.sh", 5, 0), ("a.sh", 6, 0)])
        self.write("hold", "1\n")
        say, go = self.fifo("say"), self.fifo("go")
        process = self.launch_batch()
        say.line()
        process.send_signal(signal.SIGINT)
        self.line_with(process, "starting nothing more")
        go.let()
        self.finish(process, code=130)
        self.assertEqual(self.states(), ["succeeded", "waiting"])
        self.assertEqual(started(self.batch()), [2])

    def test_asked_to_end_means_again(self):
        self.script("a.sh", mem=20)
        self.table([("a.sh", 5, 0)])
        self.write("hold", "1\n")
        say = self.fifo("say")
        self.fifo("go")
        process = self.launch_batch()
        say.line()
        process.send_signal(signal.SIGINT)
        self.line_with(process, "starting nothing more")
        process.send_signal(signal.SIGINT)
        self.finish(process, code=130)
        self.assertEqual(self.states(), ["interrupted"])
        os.remove(self.path("hold"))
        self.assertEqual(started(self.batch()), [1])

    def test_one_at_a_time(self):
        self.script("a.sh")
        self.table([("a.sh", 5, 0)])
        self.write("hold", "1\n")
        say, go = self.fifo("say"), self.fifo("go")
        process = self.launch_batch()
        say.line()
        done = self.run_jobs("", "t.csv", code=1, gpus=self.gpus, program=(BERTH, "batch"))
        self.assertIn("another berth batch runs this file", done.stderr)
        self.assertTrue(self.status()["running"])
        self.assertEqual(self.states(), ["running"])
        go.let()
        self.finish(process)
        self.assertFalse(self.status()["running"])
        self.assertEqual(self.completed(), [1])

    def test_appended_rows_are_further_batches(self):
        self.script("a.sh", mem=20)
        rows = [("a.sh", 5, 1), ("a.sh", 6, 1), ("a.sh", 7, 1)]
        self.table(rows)
        self.write("hold", "1\n")
        say = self.fifo("say")
        self.fifo("go")
        process = self.launch_batch("--num", "2")
        say.line()
        self.killed(process)
        os.remove(self.path("hold"))
        # Though they would go first in the batch that was interrupted, they are not in it.
        self.table(rows + [("a.sh", 8, 0), ("a.sh", 9, 0)])
        self.assertEqual(started(self.batch("--num", "2")), [1, 2, 4, 3, 5])
        self.table(rows + [("a.sh", 8, 0), ("a.sh", 9, 0), ("a.sh", 10, 0)])
        self.assertEqual(self.states(), ["succeeded"] * 5 + ["waiting"])
        self.assertEqual(started(self.batch("--num", "2")), [6])

    def test_changed_rows_that_are_done(self):
        self.script("a.sh")
        self.table([("a.sh", 5, 0), ("a.sh", 6, 0)])
        self.batch()
        self.table([("a.sh", 5, 0), ("a.sh", 7, 0), ("a.sh", 8, 0)])
        done = self.run_jobs("", "t.csv", code=1, gpus=self.gpus, program=(BERTH, "batch"))
        self.assertIn("line 3, the 2. row", done.stderr)
        self.assertIn("--restart", done.stderr)
        self.assertNotIn("line 2", done.stderr)
        self.assertEqual(started(self.batch("--restart")), [3, 4, 5])

    def test_a_journal_that_cannot_be_written_is_told(self):
        self.script("a.sh")
        self.table([("a.sh", 5, 0)])
        self.batch()
        self.table([("a.sh", 5, 0), ("a.sh", 6, 0)])
        stream = self.batch(code=1, env=dict(self.env, BERTH_FAILPOINTS="batch.journal=errno:28"))
        self.assertEqual(started(stream), [2])
        self.assertIn("cannot write the progress", of_kind(stream, "warning")[0]["text"])
        self.assertEqual(self.states(), ["succeeded", "waiting"])

    def test_a_damaged_journal_is_left_alone(self):
        self.script("a.sh")
        self.table([("a.sh", 5, 0)])
        self.write("t.csv.berth", "my own notes\n")
        self.assertIn("makes no sense", self.refused(code=1))
        self.assertEqual(self.read("t.csv.berth"), "my own notes\n")


if __name__ == "__main__":
    unittest.main()
