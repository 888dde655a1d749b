"""berth batch: the tasks of a CSV file, in batches, by priority, packed by memory."""

import json
import os
import unittest

from batch_case import BatchCase, most_at_once, started
from gpu_case import BERTH, GIB
from run_case import of_kind


class Batch(BatchCase):
    def test_order_batches_and_profiles(self):
        self.script("a.sh", mem=20)
        self.script("b.sh", mem=20)
        self.table([("a.sh", 5, 3), ("b.sh", 6, 1), ("a.sh", 7, 2),
                    ("b.sh", 8, 9), ("a.sh", 9, 9), ("b.sh", 10, -4),
                    ("a.sh", 11, 0)])
        text = self.read("t.csv")
        stream = self.batch("--num", "3")
        names = [event["name"] for event in of_kind(stream, "start")]
        # One profile of each script, in order of priority; then the tasks, none beside another.
        self.assertEqual(names, ["profile-2", "profile-3", "task-2", "task-3", "task-1",
                                 "task-6", "task-4", "task-5", "task-7"])
        self.assertEqual(self.read("ledger").splitlines(),
                         ["b.sh 2 2", "a.sh 3 2", "b.sh 2 6", "a.sh 3 7", "a.sh 1 5", "b.sh 6 10",
                          "b.sh 4 8", "a.sh 5 9", "a.sh 7 11"])
        self.assertEqual(most_at_once(stream), 1)
        self.assertEqual(self.read("t.csv"), text)
        summary = of_kind(stream, "summary")[0]
        self.assertEqual((summary["succeeded"], summary["failed"], summary["not_run"]), (7, 0, 0))
        ends = {event["name"]: event for event in of_kind(stream, "end")}
        self.assertEqual(ends["profile-2"]["note"], "profile")
        self.assertEqual(ends["profile-2"]["peak_memory_bytes"], 20 * GIB)
        self.assertIsNone(ends["task-2"]["note"])

    def test_packs_what_fits_and_profiles_once(self):
        self.script("a.sh", mem=6)
        rows = [("a.sh", epochs, 0) for epochs in (10, 11, 12, 13)]
        self.table(rows)
        # All wait until three are there: with 0.5 GiB kept free and a margin a fourth has no room.
        self.write("hold", "1\n2\n3\n4\n")
        say, go = self.fifo("say"), self.fifo("go")
        process = self.launch("t.csv", "--json", gpus=self.gpus, program=(BERTH, "batch"))
        self.assertEqual(sorted(say.lines(3)), ["1", "2", "3"])
        self.assertEqual(self.status()["counts"]["running"], 3)
        go.let(1)
        self.assertEqual(say.line(), "4")
        go.let(3)
        out, _ = self.finish(process)
        stream = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(started(stream, "profile"), [1])
        self.assertEqual(started(stream), [1, 2, 3, 4])
        self.assertEqual(most_at_once(stream), 3)
        # The next file that has it, and the same once more, need no profile.
        os.remove(self.path("hold"))
        self.table(rows, name="u.csv")
        again = self.run_jobs("", "u.csv", "-v", gpus=self.gpus, program=(BERTH, "batch")).stderr
        self.assertNotIn("--epochs=2 ", again)
        self.assertEqual(again.count("started on gpu"), 4)
        restarted = self.batch("--restart")
        self.assertEqual(started(restarted, "profile"), [])
        # Ids go on counting, over all files.
        self.assertEqual(started(restarted), [9, 10, 11, 12])

    def test_a_known_task_does_not_pass_one_that_is_profiled(self):
        for name in ("a.sh", "b.sh"):
            self.script(name)
        self.table([("a.sh", 10, 0)])
        self.batch()
        self.table([("a.sh", 10, 0), ("a.sh", 11, 1), ("b.sh", 12, 0)])
        stream = self.batch()
        self.assertEqual(started(stream, "profile"), [3])
        self.assertEqual(started(stream), [3, 2])

    def test_buffer_and_many_devices(self):
        for name in ("a.sh", "b.sh"):
            self.script(name, mem=6)
        self.table([("a.sh", 10, 1), ("b.sh", 10, 2), ("a.sh", 11, 3), ("b.sh", 11, 4)])
        stream = self.batch("--buffer", "12GiB", gpus="sim:2x24GiB")
        self.assertEqual(most_at_once(stream, "profile"), 2)  # side by side, each alone
        gpus = {event["name"]: event["gpus"] for event in of_kind(stream, "start")}
        self.assertNotEqual(gpus["profile-1"], gpus["profile-2"])
        self.assertLessEqual(most_at_once(stream), 2)
        self.assertEqual(started(stream), [1, 2, 3, 4])

    def test_failed_profile(self):
        self.script("bad.sh", extra="exit 3")
        self.script("good.sh")
        self.table([("bad.sh", 5, 0), ("good.sh", 6, 1), ("bad.sh", 7, 2)])
        stream = self.batch(code=1)
        self.assertEqual(started(stream), [2])
        self.assertEqual(started(stream, "profile"), [1, 2])
        warnings = [event["text"] for event in of_kind(stream, "warning")]
        self.assertIn("line 2 is not run: the profile of bad.sh failed (exit 3)", warnings)
        self.assertIn("line 4 is not run: the profile of bad.sh failed (exit 3)", warnings)
        summary = of_kind(stream, "summary")[0]
        self.assertEqual((summary["succeeded"], summary["failed"], summary["not_run"]), (1, 2, 0))
        self.assertEqual(self.states(), ["failed", "succeeded", "failed"])
        self.assertEqual(self.status()["rows"][0]["reason"], "profile: exit 3")
        # Nothing to do, but not well either.
        done = self.run_jobs("", "t.csv", code=1, program=(BERTH, "batch"))
        self.assertIn("2 of them failed (--rerun-failed", done.stderr)
        self.script("bad.sh")
        again = self.batch("--rerun-failed")
        self.assertEqual(started(again), [1, 3])
        self.assertEqual(self.states(), ["succeeded"] * 3)

    def test_a_failed_row_that_was_corrected_runs(self):
        self.script("a.sh", extra='[ "$epochs" != 7 ] || exit 4')
        self.table([("a.sh", 5, 0), ("a.sh", 7, 0)])
        self.batch(code=1)
        self.table([("a.sh", 5, 0), ("a.sh", 8, 0)])
        self.assertEqual(self.states(), ["succeeded", "waiting"])
        self.assertEqual(started(self.batch()), [2])

    def test_no_memory_seen_means_alone(self):
        self.write("cpu.sh", 'echo "$0 $@" >> "$LEDGER"\n')
        self.table([("cpu.sh", 5, 0), ("cpu.sh", 6, 0)])
        stream = self.batch()
        self.assertEqual(started(stream, "profile"), [1])
        self.assertEqual(started(stream), [1, 2])
        self.assertEqual(most_at_once(stream), 1)
        self.assertIn("used no GPU memory", of_kind(stream, "warning")[0]["text"])
        # That is remembered.
        self.table([("cpu.sh", 5, 0), ("cpu.sh", 6, 0), ("cpu.sh", 7, 0)])
        stream = self.batch()
        self.assertEqual((started(stream, "profile"), started(stream)), ([], [3]))

    def test_what_nobody_remembers_is_profiled_again(self):
        self.script("a.sh")
        self.table([("a.sh", 5, 0)])
        self.assertEqual(started(self.batch(), "profile"), [1])
        os.remove(self.path("peaks"))
        self.table([("a.sh", 5, 0), ("a.sh", 6, 0)])
        self.assertEqual(started(self.batch(), "profile"), [2])

    def test_links_to_a_file_are_the_same_file(self):
        self.script("a.sh")
        os.mkdir(self.path("other"))
        os.symlink(self.table([("a.sh", 5, 0)]), self.path("other/link.csv"))
        self.batch()
        done = self.run_jobs("", "other/link.csv", gpus=self.gpus, program=(BERTH, "batch"))
        self.assertIn("all rows are done", done.stderr)

    def test_no_profiles_when_told(self):
        self.script("a.sh")
        self.table([("a.sh", 5, 0), ("a.sh", 6, 0)])
        stream = self.batch("--profile-epochs", "0")
        self.assertEqual(started(stream, "profile"), [])
        self.assertEqual(started(stream), [1, 2])

    def test_the_flags_of_the_script_it_replaces(self):
        self.script("a.sh")
        self.table([("a.sh", 5, 1), ("a.sh", 6, 0)], header=False)
        done = self.run_jobs("", "--csv", "t.csv", "--num", "1", "--header", "None", "--json",
                             gpus=self.gpus, program=(BERTH, "batch"))
        self.assertEqual(started([json.loads(line) for line in done.stdout.splitlines()]), [1, 2])

    def test_default_interpreter(self):
        self.write("train.py", "import os, sys\nopen(os.environ['LEDGER'], 'a').write("
                               "' '.join([os.getcwd()] + sys.argv[1:]) + '\\n')\n")
        self.write("t.csv", f"Directory,Executable,Filename,Epochs,Priority\n{self.home},-1,"
                            "train.py,5,0\n")
        self.batch()
        self.assertEqual(self.read("ledger").splitlines(),
                         [f"{os.path.realpath(self.home)} --epochs={epochs} --id=1"
                          for epochs in (2, 5)])

    def test_malformed_rows_are_all_named(self):
        self.script("a.sh")
        self.write("t.csv", f"Directory,Executable,Filename,Epochs,Priority\n{self.home},sh,a.sh,5,0"
                            f"\n{self.home},sh,a.sh,many,0\n{self.home},sh,b.sh,5,0\n"
                            f"{self.home},sh,a.sh,5\n/no/where,sh,a.sh,5,0\n")
        message = self.refused()
        for words in ("line 3 has 'many' as Epochs", "line 4 has the Filename 'b.sh'",
                      "line 5 has 4 columns", "line 6 has the Directory '/no/where'"):
            self.assertIn(words, message)
        self.assertNotIn("line 2 ", message)
        self.assertFalse(os.path.exists(self.path("t.csv.berth")))

    def test_wrong_usage(self):
        self.assertIn("which file", self.refused("--csv", ""))
        self.assertIn("No such file", self.refused(file="none.csv"))
        self.table([])
        self.assertIn("has no rows", self.refused(code=0))
        for words in (("--num", "-1"), ("--header", "first"), ("--retries", "-1"), ("--nu", "1")):
            self.refused(*words)

    def test_logs_retries_and_time_limits(self):
        self.script("a.sh", extra='[ "$epochs" = 2 ] || [ -e "$HOME_DIR/tried" ] || '
                                  '{ touch "$HOME_DIR/tried"; exit 9; }')
        self.env["HOME_DIR"] = self.home
        self.table([("a.sh", 5, 0)])
        self.batch("--retries", "1", "--log-dir", "logs")
        self.assertEqual(sorted(os.listdir(self.path("logs"))),
                         ["1-profile-1.log", "2-task-1.2.log", "2-task-1.log"])
        self.write("slow.sh", "sleep 100\n")
        self.table([("a.sh", 5, 0), ("slow.sh", 5, 0)])
        self.batch("--timeout", "1500ms", "--profile-epochs", "0", code=124)
        self.assertEqual(self.status()["rows"][1]["reason"], "timed_out")


if __name__ == "__main__":
    unittest.main()
