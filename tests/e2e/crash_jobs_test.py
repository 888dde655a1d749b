"""What dies beside the daemon: launchers, shims, jobs, the whole machine. End to end."""

import os
import signal
import unittest

from daemon_case import DaemonCase


class Launcher(DaemonCase):
    def test_kill_9_of_the_launcher_under_load(self):
        count = 60
        lines = "".join(f"echo {i} >> ledger; exit {i}\n" for i in range(count))
        self.berth("submit", "--file", "-", input=lines)
        for job in (5, 20, 35):
            self.berth("wait", str(job), code=1)
            for launcher in self.launchers():
                self.kill_process(launcher)
        self.berth("wait")
        self.assertEqual(self.ends(), [("failed" if i else "succeeded", i, None, 1)
                                       for i in range(count)])
        self.assertEqual(sorted(map(int, self.read("ledger").split())), list(range(count)))


class Jobs(DaemonCase):
    devices = "sim:1"

    def test_kill_9_of_a_shim(self):
        """Nobody will know how its job ends, but that it runs is known, and its device is taken."""
        self.make_gates("up", "gate")
        self.berth("submit", "echo $PPID > up; read x < gate; echo end >> ledger")
        shim = int(self.hear("up"))
        self.berth("submit", "echo next >> ledger")
        self.kill_process(shim)
        self.assertEqual([job["state"] for job in self.jobs()], ["running", "queued"])
        self.kill_daemon()
        self.berth("daemon", "start")
        self.assertEqual([job["state"] for job in self.jobs()], ["running", "queued"])
        self.release("gate")
        self.berth("wait", "1", "2", code=1)
        self.assertEqual(self.read("ledger"), "end\nnext\n")
        self.assertEqual([end[:1] + end[2:] for end in self.ends()],
                         [("lost", None, 1), ("succeeded", None, 1)])

    def test_kill_9_of_a_shim_and_its_job_with_retries(self):
        self.make_gates("up", "gate")
        self.berth("submit", "--retries", "1",
                   "echo $BERTH_ATTEMPT >> ledger; echo $PPID $$ > up; read x < gate; exit 7")
        for pid in map(int, self.hear("up").split()):
            self.kill_process(pid)
        self.hear("up")
        self.release("gate")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 7, None, 2)])
        self.assertEqual(self.read("ledger"), "1\n2\n")

    def test_kill_9_of_a_job_from_outside(self):
        self.make_gates("up", "gate")
        self.berth("submit", "echo $$ > up; read x < gate")
        self.kill_process(int(self.hear("up")))
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", None, signal.SIGKILL, 1)])

    def test_a_job_that_ignores_requests_to_end(self):
        self.make_gates("up", "gate")
        self.berth("submit", "trap '' TERM; echo $$ > up; read x < gate; echo never >> ledger")
        job = self.watch(int(self.hear("up")))
        self.berth("kill", "1")
        self.assertEqual([job["state"] for job in self.jobs()], ["running"])
        self.berth("kill", "1")  # again: by force
        self.gone(job)
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("cancelled", None, signal.SIGKILL, 1)])
        self.assertFalse(os.path.exists(self.path("ledger")))

    def test_an_adopted_job_that_ignores_requests_to_end(self):
        self.make_gates("up", "gate")
        self.berth("submit", "trap '' TERM; echo $$ > up; read x < gate")
        job = self.watch(int(self.hear("up")))
        self.kill_daemon()
        self.berth("daemon", "start")
        self.berth("kill", "1")
        self.berth("kill", "1")
        self.gone(job)
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("cancelled", None, signal.SIGKILL, 1)])

    def test_a_kill_outlives_the_daemon(self):
        """Once it is acknowledged the job is ended and called cancelled, and not tried again."""
        job = "echo $BERTH_ATTEMPT >> ledger; trap 'exit 5' TERM; echo $$ > up; sleep 1000 & wait"
        self.make_gates("up")
        for step in ("daemon.after_commit", "daemon.before_stop"):
            with self.subTest(step):
                self.berth("submit", "--retries", "1", job)
                self.hear("up")
                self.kill_daemon()
                daemon = self.start_daemon(f"{step}=kill")
                number = len(self.read("ledger").split())
                self.try_berth("kill", str(number))
                self.dies(daemon)
                self.berth("wait", str(number), code=1)
                self.assertEqual(self.ends()[-1], ("cancelled", 5, None, 1))
        self.assertEqual(self.read("ledger"), "1\n1\n")

    def test_a_job_that_was_told_to_end_and_did_so_without_a_daemon(self):
        self.make_gates("up", "told", "gate")
        self.berth("submit", "--retries", "1", "trap 'echo > told; read x < gate; exit 5' TERM;"
                   " echo $PPID > up; sleep 1000 & wait")
        shim = self.watch(int(self.hear("up")))
        self.berth("kill", "1")
        self.hear("told")
        self.kill_daemon()
        self.release("gate")
        self.gone(shim)
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("cancelled", 5, None, 1)])

    def test_what_escapes_its_session_is_ended_with_the_job(self):
        self.make_gates("up", "gate")
        escape = "(setsid sh -c '(echo $$ > up; exec sleep 1000) &' &)"
        for how in ("exit", "kill", "kill an adopted one"):
            with self.subTest(how):
                number = self.berth("submit", f"{escape}; read x < gate").strip()
                # The writer of its number has become the sleeper's parent, which is in its group.
                self.hear("up")
                sleepers = [self.watch(pid) for pid in self.named("sleep")]
                if how == "exit":
                    self.release("gate")
                else:
                    if how != "kill":
                        self.kill_daemon()
                        self.berth("daemon", "start")
                    self.berth("kill", number)
                self.berth("wait", number, code=None)
                for sleeper in sleepers:
                    self.gone(sleeper)
                self.assertEqual(self.named("sleep"), [])

    def test_a_reboot(self):
        boot = self.path("boot")
        with open(boot, "w", encoding="utf-8") as file:
            file.write("first\n")
        self.env["BERTH_BOOT_ID"] = boot
        self.make_gates("up", "gate")
        self.berth("submit", "exit 3")
        self.berth("wait", "1", code=1)
        self.berth("submit", "echo ran >> ledger; echo $PPID $$ > up; read x < gate")
        down = [int(pid) for pid in self.hear("up").split()]
        self.berth("submit", "echo queued >> ledger")
        down.insert(0, self.status()["pid"])
        for pid in down:
            self.kill_process(pid)
        with open(boot, "w", encoding="utf-8") as file:
            file.write("second\n")
        self.berth("daemon", "start")
        self.berth("wait", "2", "3", code=1)
        self.assertEqual([end[0] for end in self.ends()], ["failed", "lost", "succeeded"])
        self.assertEqual(self.read("ledger"), "ran\nqueued\n")


if __name__ == "__main__":
    unittest.main()
