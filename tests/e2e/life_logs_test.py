"""berth logs and berth submit --wait, end to end."""

import json
import os
import signal
import subprocess
import unittest

from daemon_case import BERTH, DEADLINE
from life_case import LifeCase


class Logs(LifeCase):
    devices = "sim:1"

    def test_following_a_job_that_starts_later(self):
        self.make_gates("gate", "next")
        self.berth("submit", "cat gate")
        self.berth("submit", "echo one; read x < next; echo two; exit 3")
        follower = self.start("logs", "-f", "2")
        self.assertIn("job 2 has not started yet (berth why 2)", self.fails("logs", "2"))
        self.release("gate")
        self.assertEqual(self.line(follower), "one")
        self.assertEqual(self.berth("logs", "2"), "one\n")
        self.release("next")
        self.assertEqual(self.ends_with(follower, 0), ("two\n", ""))

    def test_json(self):
        self.berth("submit", "--wait", "printf 'one\\ntwo\\nthree'")
        self.berth("submit", "--hold", "true")
        whole = {"job": 1, "attempt": 1, "text": "one\ntwo\nthree", "size": 13, "truncated": False}
        self.assertEqual(json.loads(self.berth("logs", "1", "--json")), {"version": 1, "logs": [whole]})
        last = dict(whole, text="three", truncated=True)
        none = {"job": 2, "attempt": 0, "text": "", "size": 0, "truncated": False}
        self.assertEqual(json.loads(self.berth("logs", "1-2", "--json", "-n", "1"))["logs"], [last, none])
        lines = [json.loads(line) for line in self.berth("logs", "-f", "--json", "1").splitlines()]
        self.assertEqual(lines, [{"version": 1, "job": 1, "attempt": 1, "line": line}
                                 for line in ("one", "two", "three")])
        self.assertIn("no attempt 4", self.fails("logs", "--json", "--attempt", "4", "1"))

    def test_following_over_retries(self):
        self.make_gates("gate")
        self.berth("submit", "--retries", "2",
                   "echo try $BERTH_ATTEMPT; read x < gate; echo end $BERTH_ATTEMPT; exit 7")
        follower = self.start("logs", "-f", "1")
        for attempt in (1, 2, 3):
            self.assertEqual(self.line(follower), f"try {attempt}")
            self.release("gate")
            self.assertEqual(self.line(follower), f"end {attempt}")
        self.ends_with(follower, 0)
        self.assertEqual(self.berth("logs", "1"), "try 3\nend 3\n")
        self.assertEqual(self.berth("logs", "--attempt", "1", "1"), "try 1\nend 1\n")
        self.assertEqual(self.berth("logs", "-f", "--attempt", "2", "1"), "try 2\nend 2\n")
        self.assertIn("no attempt 4", self.fails("logs", "--attempt", "4", "1"))

    def test_the_last_lines(self):
        self.berth("submit", "seq 10; printf 'no newline'")
        self.berth("wait", "1")
        for lines, expected in (("0", ""), ("1", "no newline"), ("3", "9\n10\nno newline")):
            self.assertEqual(self.berth("logs", "-n", lines, "1"), expected)
        self.assertEqual(len(self.berth("logs", "-n", "99", "1").splitlines()), 11)
        for wrong in ("-1", "x", ""):
            self.assertIn("a number from 0 on", self.fails("logs", "-n", wrong, "1"))

    def test_errors_apart(self):
        self.berth("submit", "-o", "out-%j", "-e", "err-%j", "echo out; echo err >&2")
        self.berth("submit", "echo out; echo err >&2")
        self.berth("wait")
        self.assertEqual(self.berth("logs", "1"), "out\n")
        self.assertEqual(self.berth("logs", "--stderr", "1"), "err\n")
        self.assertEqual(self.berth("logs", "--stderr", "2"), "out\nerr\n")
        self.assertEqual(self.read("out-1") + self.read("err-1"), "out\nerr\n")

    def test_several_have_their_numbers_in_front(self):
        self.berth("submit", "echo a; printf b")
        self.berth("submit", "--hold", "true")
        self.berth("submit", "echo c")
        self.berth("wait", "1", "3")
        self.assertEqual(self.berth("logs", "1-3"), "1| a\n1| b\n3| c\n")
        self.berth("kill", "2")
        self.assertEqual(sorted(self.berth("logs", "-f", "1-3").splitlines()),
                         ["1| a", "1| b", "3| c"])

    def test_a_long_log_of_any_bytes(self):
        size = 50_000_000
        self.berth("submit", f"head -c {size} /dev/urandom; printf '\\nlast\\n'")
        self.berth("wait", "1")
        with open(self.show(1)["log"], "rb") as log:
            written = log.read()
        self.assertEqual(len(written), size + 6)
        for words in ((), ("-f",)):
            read = subprocess.run([BERTH, "logs", "1", *words], env=self.env, timeout=DEADLINE,
                                  capture_output=True, check=True).stdout
            self.assertTrue(read == written)  # not assertEqual: it would print them
        self.assertEqual(self.berth("logs", "-n", "1", "1"), "last\n")

    def test_what_cannot_be_read_again(self):
        os.mkfifo(self.path("fifo"))
        self.berth("submit", "-o", "/dev/null", "echo x")
        self.berth("wait", "1")
        self.assertIn("/dev/null is not a file", self.fails("logs", "1"))
        self.berth("submit", "-o", "fifo", "echo x")
        self.assertEqual(self.hear("fifo"), "x")
        self.berth("wait", "2")
        self.assertIn("fifo is not a file", self.fails("logs", "2"))

    def test_of_jobs_that_never_ran_or_are_not_there(self):
        self.berth("submit", "--hold", "true")
        self.berth("kill", "1")
        self.assertIn("job 1 never ran", self.fails("logs", "1"))
        self.assertIn("no such job", self.fails("logs", "2"))
        self.assertIn("no such job", self.fails("logs", "nobody"))


class Waiting(LifeCase):
    devices = "sim:1"

    def submit(self, code, *words):
        """What is seen of a job that is waited for, and what is said about it."""
        done = self.try_berth("submit", "--wait", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def test_output_comes_as_it_is_written(self):
        self.make_gates("gate")
        waiter = self.start("submit", "--wait", "echo one; read x < gate; echo two >&2; exit 4")
        self.assertEqual(self.line(waiter), "one")
        self.release("gate")
        self.assertEqual(self.ends_with(waiter, 4), ("two\n", ""))

    def test_how_it_ends_is_how_the_job_ends(self):
        self.assertEqual(self.submit(0, "echo hi"), ("hi\n", ""))
        self.assertEqual(self.submit(5, "exit 5"), ("", ""))
        self.assertEqual(self.submit(128 + signal.SIGKILL, "kill -9 $$"), ("", ""))
        limit = "berth: job 4 is timed_out: it reached its time limit\n"
        self.assertEqual(self.submit(124, "--timeout", "100ms", "sleep 60"), ("", limit))
        # However it takes the signal.
        self.assertEqual(self.submit(124, "--timeout", "100ms",
                                     "trap 'exit 0' TERM; sleep 60 & wait"),
                         ("", limit.replace("4", "5", 1)))

    def test_every_attempt_is_seen(self):
        self.assertEqual(self.submit(7, "--retries", "2", "echo $BERTH_ATTEMPT; exit 7")[0],
                         "1\n2\n3\n")

    def test_a_job_whose_output_cannot_be_followed(self):
        output, told = self.submit(5, "-o", "/dev/null", "exit 5")
        self.assertEqual(output, "")
        self.assertIn("/dev/null is not a file", told)

    def test_a_job_that_cannot_start(self):
        self.assertIn("cannot open its output: Not a directory",
                      self.submit(127, "-o", "/dev/null/out", "true")[1])

    def test_a_job_that_is_killed_while_it_waits(self):
        self.berth("daemon", "start")
        waiter = self.start("submit", "--wait", "--hold", "true")
        for name, _ in self.events():
            if name in ("hello", "submitted") and len(self.jobs()) == 1:
                break
        self.berth("kill", "1")
        self.assertIn("job 1 is cancelled", self.ends_with(waiter, 1)[1])


if __name__ == "__main__":
    unittest.main()
