"""berth run --log-dir: one file per attempt, and what happens when the disk is full."""

import os
import subprocess
import unittest

from run_case import RunCase, events, of_kind


class Logs(RunCase):
    def logs(self):
        return sorted(os.listdir(self.path("logs")))

    def test_one_per_job_with_its_name(self):
        self.run_jobs(["echo out; echo err >&2", "@name=train/a b=c true",
                       "@name=eval echo $BERTH_NAME", "printf 'no newline'"],
                      "--log-dir", "logs", gpus="sim:1")
        self.assertEqual(self.logs(), ["1.log", "2-train_a.log", "3-eval.log", "4.log"])
        self.assertEqual(self.read("logs/1.log"), "out\nerr\n")
        self.assertEqual(self.read("logs/2-train_a.log"), "")
        self.assertEqual(self.read("logs/3-eval.log"), "eval\n")
        self.assertEqual(self.read("logs/4.log"), "no newline")

    def test_a_retry_gets_its_own(self):
        self.run_jobs(["@name=x echo attempt $BERTH_ATTEMPT; [ $BERTH_ATTEMPT = 3 ]"], "--retries",
                      "5", "--log-dir", "logs")
        self.assertEqual(self.logs(), ["1-x.2.log", "1-x.3.log", "1-x.log"])
        self.assertEqual(self.read("logs/1-x.log"), "attempt 1\n")
        self.assertEqual(self.read("logs/1-x.3.log"), "attempt 3\n")

    def test_another_run_overwrites_nothing(self):
        for text in ("first", "second"):
            self.run_jobs([f"echo {text}"], "--log-dir", "logs")
        self.assertEqual(self.read("logs/1.log"), "first\n")
        self.assertEqual(self.read("logs/1.2.log"), "second\n")

    def test_long_output_is_complete(self):
        self.run_jobs(["seq 200000", "seq 200000 >&2"], "--log-dir", "logs")
        expected = "".join(f"{n}\n" for n in range(1, 200001))
        self.assertEqual(self.read("logs/1.log"), expected)
        self.assertEqual(self.read("logs/2.log"), expected)

    def test_with_json_only_events_are_printed(self):
        stream = self.run_events(["echo hello"], "--log-dir", "logs")
        self.assertEqual([e["event"] for e in stream], ["start", "end", "summary"])
        self.assertEqual(self.read("logs/1.log"), "hello\n")

    def test_unwritable_is_an_error_before_anything_starts(self):
        self.write("file", "")
        self.write("program", "")
        os.chmod(self.path("program"), 0o755)
        for folder in ("file", "program", "file/logs", "missing/logs", "/proc/logs"):
            done = self.run_jobs(["touch ran"], "--log-dir", folder, code=None)
            self.assertNotEqual(done.returncode, 0, folder)
            self.assertIn("log folder", done.stderr)
            self.assertFalse(os.path.exists(self.path("ran")), folder)

    def test_a_folder_without_permission(self):
        if os.geteuid() == 0:
            self.skipTest("permissions do not bind root")
        os.mkdir(self.path("logs"), 0o500)
        done = self.run_jobs(["touch ran"], "--log-dir", "logs", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(self.path("ran")))


class FullDisk(RunCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("logs"))
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "berth-test",
                                  self.path("logs")], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest("cannot mount a small disk: " + mounted.stderr)
        self.addCleanup(subprocess.run, ["umount", self.path("logs")], check=True)

    def test_jobs_go_on_and_the_loss_is_told(self):
        done = self.run_jobs(["seq 100000; echo $? > one", "echo small; echo done > two"],
                             "--log-dir", "logs", gpus="sim:1", code=1)
        self.assertEqual(self.read("one"), "0\n")  # it never saw the full disk
        self.assertEqual(self.read("two"), "done\n")
        self.assertIn("2 succeeded, 0 failed", done.stderr)
        self.assertRegex(done.stderr, r"output is being lost: logs/1\.log: No space left")
        self.assertRegex(done.stderr, r"KiB of output could not be written to logs and are lost")
        kept = self.read("logs/1.log")
        self.assertTrue("".join(f"{n}\n" for n in range(1, 100001)).startswith(kept))
        self.assertGreater(len(kept), 30000)

    def test_events_count_every_byte(self):
        done = self.run_jobs(["seq 100000"], "--log-dir", "logs", "--json", code=1)
        summary = events(done.stdout)[-1]
        written = sum(len(f"{n}\n") for n in range(1, 100001))
        self.assertEqual(summary["lost_output_bytes"],
                         written - os.path.getsize(self.path("logs/1.log")))
        self.assertEqual(summary["succeeded"], 1)
        self.assertEqual(len(of_kind(events(done.stdout), "warning")), 1)

    def test_joblog_on_a_full_disk(self):
        self.write("logs/filler", b"x")
        with self.assertRaises(OSError):
            self.write("logs/filler", b"x" * (1 << 20))
        done = self.run_jobs(["true", "echo ran > ran"], "--joblog", "logs/joblog", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("joblog", done.stderr)

    def test_the_disk_fills_while_the_joblog_is_written(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--joblog", "logs/joblog", gpus="sim:1")
        self.feed(process, "echo > told; read x < gate", ": " + "x" * 5000, "echo ran > ran")
        told.line()
        with self.assertRaises(OSError):
            self.write("logs/filler", b"x" * (1 << 20))
        gate.let()
        _, err = self.finish(process, code=1)
        self.assertIn("3 succeeded, 0 failed", err)
        self.assertIn("cannot write the joblog", err)
        self.assertEqual(self.read("ran"), "ran\n")


if __name__ == "__main__":
    unittest.main()
