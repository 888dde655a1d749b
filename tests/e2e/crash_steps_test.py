"""kill -9 of the daemon at every step of a job's life, by failpoints in the real program.

Whatever the step: after the next command has started a new daemon, what was acknowledged is there,
what was not and is sent again with its token is there once, and each attempt has run once.
"""

import json
import subprocess
import unittest

from daemon_case import BERTH, DEADLINE, DaemonCase

NEVER_ACKNOWLEDGED = 3  # the exit code of a command whose daemon died under it

BEFORE_THE_ANSWER = ("daemon.before_commit", "daemon.after_write", "daemon.before_start",
                     "runner.before_request", "runner.after_request", "daemon.after_start",
                     "daemon.after_commit")
AFTER_THE_ANSWER = ("daemon.start_seen", "runner.shim_ended",
                    "daemon.end_seen", "daemon.before_forget", "runner.between_removals",
                    "daemon.after_forget")
IN_RESTORE = ("daemon.restore_adopted", "daemon.restored")


class Steps(DaemonCase):
    def submit(self, command, *options):
        """Submits with a token, again when there was no answer; whether the first was answered."""
        words = ("submit", "--token", "t", *options, command)
        first = self.try_berth(*words)
        self.assertIn(first.returncode, (0, NEVER_ACKNOWLEDGED), first.stderr)
        return first.returncode == 0

    def test_every_step_of_a_job(self):
        for step in BEFORE_THE_ANSWER + AFTER_THE_ANSWER:
            with self.subTest(step):
                self.setUp()
                daemon = self.start_daemon(f"{step}=kill")
                acknowledged = self.submit("echo ran >> ledger; exit 7")
                self.dies(daemon)
                if step in BEFORE_THE_ANSWER:
                    self.assertFalse(acknowledged)
                self.assertEqual(self.berth("submit", "--token", "t", "exit 1"), "1\n",
                                 "sent again, it is the same job")
                self.berth("wait", "1", code=1)
                # Where nothing was on disk the second submission is the first.
                lost = step == "daemon.before_commit"
                self.assertEqual(self.ends(), [("failed", 1 if lost else 7, None, 1)])
                if not lost:
                    self.assertEqual(self.read("ledger"), "ran\n")

    def test_a_job_of_which_only_the_end_was_seen(self):
        self.make_gates("up", "gate")
        daemon = self.start_daemon("daemon.start_seen=kill")
        self.berth("submit", "echo $PPID > up; read x < gate; exit 7")
        shim = self.watch(int(self.hear("up")))
        self.dies(daemon)
        self.release("gate")
        self.gone(shim)
        self.start_daemon("runner.list=errno:5")  # its file is overlooked, and it is asked for again
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 7, None, 1)])
        job = json.loads(self.berth("show", "1", "--json"))
        self.assertGreaterEqual(job["ended"], job["started"])
        self.assertGreaterEqual(job["started"], job["submitted"])

    def test_every_step_of_a_retry(self):
        for step in ("daemon.end_seen", "daemon.after_commit", "runner.shim_ended"):
            with self.subTest(step):
                self.setUp()
                self.make_gates("gate")
                self.berth("submit", "--retries", "1",
                           "echo $BERTH_ATTEMPT >> ledger; read x < gate; exit $BERTH_ATTEMPT")
                self.berth("hold", "1", code=1)  # it runs
                self.kill_daemon()
                daemon = self.start_daemon(f"{step}=kill")
                self.release("gate")
                self.dies(daemon)
                self.berth("daemon", "start")
                self.release("gate")
                self.berth("wait", "1", code=1)
                self.assertEqual(self.ends(), [("failed", 2, None, 2)])
                self.assertEqual(self.read("ledger"), "1\n2\n")

    def test_every_step_of_taking_up_the_queue(self):
        for step in IN_RESTORE:
            with self.subTest(step):
                self.setUp()
                self.make_gates("up", "first", "second")
                self.berth("submit", "echo 1 >> ledger; echo $PPID > up; read x < first; exit 5")
                shim = self.watch(int(self.hear("up")))
                self.berth("submit", "echo 2 >> ledger; read x < second; exit 6")
                self.berth("submit", "--after", "ok:4", "--hold", "true", code=2)
                self.berth("submit", "echo 3 >> ledger; exit 7")
                self.berth("submit", "--after", "notok:1", "echo 4 >> ledger")
                self.berth("submit", "--hold", "echo 5 >> ledger")
                self.kill_daemon()
                self.release("first")
                self.gone(shim)  # job 1 ended and nobody saw it
                for _ in range(2):
                    self.dies(self.start_daemon(f"{step}=kill", answers=False))
                self.berth("daemon", "start")
                self.release("second")
                self.berth("wait", "1", "2", "3", "4", code=1)
                self.assertEqual(self.ends(), [
                    ("failed", 5, None, 1), ("failed", 6, None, 1), ("failed", 7, None, 1),
                    ("succeeded", 0, None, 1), ("held", None, None, 0)])
                self.assertEqual(sorted(self.read("ledger").split()), ["1", "2", "3", "4"])

    def test_a_start_that_was_only_decided_costs_no_retry(self):
        daemon = self.start_daemon("daemon.before_start=kill")
        self.submit("echo $BERTH_ATTEMPT >> ledger; exit $BERTH_ATTEMPT", "--retries", "1")
        self.dies(daemon)
        self.berth("daemon", "start")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 2, None, 2)])
        self.assertEqual(self.read("ledger"), "1\n2\n")

    def test_a_start_that_was_only_decided_and_whose_device_is_gone(self):
        daemon = self.start_daemon("daemon.before_start=kill")
        self.submit("echo ran >> ledger")
        self.dies(daemon)
        self.devices = self.env["BERTH_GPUS"] = "sim:1"
        self.berth("submit", "true")
        self.berth("wait")
        self.assertEqual([end[:2] for end in self.ends()], [("succeeded", 0)] * 2)
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_a_job_that_follows_one_that_has_ended(self):
        self.make_gates("gate")
        self.berth("submit", "read x < gate; true")
        self.berth("submit", "--after", "ok:1", "--hold", "echo ran >> ledger")
        self.release("gate")
        self.berth("wait", "1")
        self.kill_daemon()
        self.berth("daemon", "start")
        self.berth("release", "2")
        self.berth("wait", "2")
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_an_end_without_a_daemon_has_its_own_time(self):
        self.make_gates("up", "gate")
        self.berth("submit", "echo $PPID > up; read x < gate; date +%s.%N > ended")
        shim = self.watch(int(self.hear("up")))
        self.kill_daemon()
        self.release("gate")
        self.gone(shim)
        self.berth("wait", "1")
        job = self.jobs()[0]
        self.assertLess(abs(job["ended"] - float(self.read("ended"))), 0.5)
        self.assertLessEqual(job["started"], job["ended"])

    def test_commands_that_find_no_daemon_start_one(self):
        words = [BERTH, "submit", "echo ran >> ledger"]
        for _ in range(2):
            commands = [subprocess.Popen(words, env=self.env, cwd=self.folder, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                        for _ in range(8)]
            for command in commands:
                _, errors = command.communicate(timeout=DEADLINE)
                self.assertEqual(command.returncode, 0, errors)
            self.kill_daemon()
        self.berth("wait", *map(str, range(1, 17)))
        self.assertEqual(self.read("ledger"), "ran\n" * 16)


if __name__ == "__main__":
    unittest.main()
