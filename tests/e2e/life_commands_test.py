"""What can be done to jobs that are there already: edit, rerun, pause, forget, hold and signals."""

import os
import signal
import unittest

from daemon_case import BERTH
from life_case import LifeCase


class Asking(LifeCase):
    devices = "sim:1"

    def setUp(self):
        super().setUp()
        self.berth("submit", "--hold", "--array", "3", "--project", "p", "true")
        self.berth("submit", "--hold", "--project", "q", "true")

    def states(self):
        return [job["state"] for job in self.jobs()]

    def test_a_terminal_is_asked_before_many_jobs_change(self):
        text, code = self.at_terminal(b"n\n", "kill", "project=p")
        self.assertIn("kill 3 jobs? [y/N]", text)
        self.assertIn("nothing was changed", text)
        self.assertEqual((code, self.states()), (1, ["held"] * 4))
        text, code = self.at_terminal(b"y\n", "kill", "project=p")
        self.assertIn("killed 3 jobs", text)
        self.assertEqual((code, self.states()), (0, ["cancelled"] * 3 + ["held"]))

    def test_what_is_plain_is_not_asked(self):
        for words in (("edit", "4", "-p", "3"), ("edit", "project=q", "-p", "4"), ("kill", "--yes", "state=held"),
                      ("rerun", "1", "2")):
            text, code = self.at_terminal(b"", *words)
            self.assertNotIn("[y/N]", text)
            self.assertEqual(code, 0, text)


class Editing(LifeCase):
    devices = "sim:2"

    def setUp(self):
        super().setUp()
        self.make_gates("gate")
        self.berth("submit", "--gpus", "2", "--expected", "1m", "cat gate")

    def test_the_order_changes(self):
        for name in "abc":
            self.berth("submit", "--gpus", "2", "--name", name, f"echo {name} >> ledger")
        self.berth("edit", "c", "--priority", "-5")
        self.berth("edit", "a", "--command", "echo changed >> ledger", "--name", "z")
        self.release("gate")
        self.berth("wait")
        self.assertEqual(self.read("ledger"), "c\nchanged\nb\n")
        self.assertEqual(self.show(2)["name"], "z")

    def test_needs_and_limits(self):
        self.berth("submit", "--gpus", "2", "--timeout", "1h", "echo $BERTH_GPUS > gpus")
        self.berth("edit", "2", "--gpus", "1", "--mem", "1GiB", "--timeout", "0", "--retries", "3",
                   "--expected", "10m")
        job = self.show(2)
        self.assertEqual((job["gpus_needed"], job["mem"], job["retries"], job["expected_s"]),
                         (1, 1 << 30, 3, 600))
        self.assertNotIn("timeout_s", job)
        self.release("gate")
        self.berth("wait", "2")
        self.assertEqual(self.read("gpus"), "0\n")

    def test_edits_outlive_the_daemon(self):
        self.berth("submit", "echo old > out")
        self.berth("edit", "2", "--command", "echo new > out", "--priority", "7")
        self.kill_daemon()
        self.release("gate")
        self.berth("wait", "2")
        self.assertEqual((self.read("out"), self.show(2)["priority"]), ("new\n", 7))

    def test_the_time_before_which_it_does_not_start(self):
        self.berth("submit", "true")
        self.berth("edit", "2", "--begin", "1h")
        self.assertRegex(self.why(2), "^not before its time, in (59m|1h).*start in (59m|1h)")
        self.release("gate")
        self.berth("wait", "1")
        self.berth("edit", "2", "--begin", "0s")
        self.berth("wait", "2")

    def test_what_is_refused_changes_nothing(self):
        self.berth("submit", "--signal", "USR1@60", "--timeout", "1h", "true")
        before = self.show(2)
        passing = {"expected_start": 0, "why": ""}
        for words, said in ((("--gpus", "9"), "but there are only 2 here"),
                            (("--gpus", "-1"), "gpus_needed must be a whole number"),
                            (("--gpus", "many"), "a whole number, not 'many'"),
                            (("--priority", "99999999"), "priority must be"),
                            (("--retries", "99999"), "retries must be"),
                            (("--mem", "huge"), "huge"),
                            (("--command", ""), "without a command"),
                            (("--begin", "soon"), "--begin takes"),
                            (("--timeout", "0"), "a warning needs a time limit"),
                            (("--timeout", "10s"), "the warning must come later"),
                            ((), "say what to change")):
            with self.subTest(words):
                self.assertIn(said, self.fails("edit", "2", *words))
        self.assertEqual({**self.show(2), **passing}, {**before, **passing})
        self.assertIn("only a waiting job can be edited", self.fails("edit", "1", "-p", "1"))
        done = self.try_berth("edit", "1-2", "-p", "1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines(), [
            "changed 1 job", "berth edit: job 1 is running: only a waiting job can be edited"])


class Again(LifeCase):
    def test_rerun_keeps_what_was(self):
        self.berth("submit", "echo try $BERTH_ATTEMPT; exit 3")
        self.berth("wait", "1", code=1)
        self.berth("rerun", "1")
        self.berth("wait", "1", code=1)
        attempts = self.show(1)["attempts"]
        self.assertEqual([(one["attempt"], one["exit_code"]) for one in attempts],
                         [(1, 3), (2, 3)])
        self.assertEqual([self.read(one["log"]) for one in attempts], ["try 1\n", "try 2\n"])
        self.kill_daemon()
        self.berth("daemon", "start")
        self.berth("rerun", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(len(self.show(1)["attempts"]), 3)

    def test_rerun_by_state(self):
        self.berth("submit", "--file", "-", input="true\nexit 1\nexit 2\nkill -9 $$\n")
        self.berth("wait")
        self.assertEqual(self.try_berth("rerun", "state=failed").stderr, "queued 3 jobs again\n")
        self.berth("wait")
        self.assertEqual([job["attempt"] for job in self.jobs()], [1, 2, 2, 2])

    def test_only_what_has_ended(self):
        self.berth("submit", "--hold", "true")
        self.assertIn("has not ended yet: it is held", self.fails("rerun", "1"))
        self.assertIn("no job that has ended matches", self.fails("rerun", "state=failed"))
        self.assertIn("there is no job 7", self.fails("rerun", "7"))

    def test_a_rerun_forgets_when_and_after_whom(self):
        self.berth("submit", "exit 1")
        self.berth("submit", "--after", "notok:1", "true")
        self.berth("wait")
        self.berth("rerun", "2")
        self.berth("wait", "2")


class Pausing(LifeCase):
    devices = "sim:1"

    def setUp(self):
        super().setUp()
        self.make_gates("up", "child", "gate")
        # A child in a session of its own is part of the job, too.
        self.berth("submit", "--name", "p", "echo $$ > up;"
                   " setsid sh -c 'echo $$ > child; exec sleep 1000' & cat gate")
        self.processes = [int(self.hear(name)) for name in ("up", "child")]
        self.until_running(1)

    def become(self, states):
        """Waits until each of them is in one of these states; they announce it to nobody."""
        self.eventually(lambda: all(
            self.proc(pid, "stat").rsplit(")", 1)[1].split()[0] in states
            for pid in self.processes), f"not all are {states}")

    def test_the_whole_tree_stops_and_goes_on(self):
        self.berth("pause", "p")
        self.become("T")
        self.assertIn(" paused ", self.berth("queue"))
        self.assertTrue(self.show(1)["paused"])
        self.assertIn("it is paused (berth resume", self.why(1))
        self.kill_daemon()
        self.berth("daemon", "start")
        self.assertTrue(self.show(1)["paused"])
        self.berth("resume", "1")
        self.become("SRD")
        self.release("gate")
        self.berth("wait", "1")

    def test_a_paused_job_can_be_killed(self):
        self.berth("pause", "1")
        self.berth("kill", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("cancelled", None, signal.SIGTERM, 1)])

    def test_only_what_runs(self):
        self.berth("submit", "true")
        for verb in ("pause", "resume"):
            self.assertIn("job 2 is queued, not running", self.fails(verb, "2"))
            self.assertIn("no running job matches", self.fails(verb, "nobody"))


class Forgetting(LifeCase):
    def test_by_age_and_state(self):
        self.berth("submit", "--file", "-", input="true\nexit 1\n")
        self.berth("submit", "-o", "mine", "echo mine")
        self.berth("wait")
        self.assertEqual(self.berth("forget", "--older", "1h"), "forgot 0 jobs\n")
        self.assertEqual(self.berth("forget", "--older", "0s", "--state", "failed"),
                         "forgot 1 job\n")
        self.assertEqual([job["id"] for job in self.jobs()], [1, 3])
        self.assertEqual(os.listdir(self.home + "/logs"), ["1.1.log"])
        self.assertEqual(self.berth("forget", "--older", "0s"), "forgot 2 jobs\n")
        self.assertEqual((self.jobs(), os.listdir(self.home + "/logs")), ([], []))
        self.assertEqual(self.read("mine"), "mine\n")
        self.assertIn("say how old", self.fails("forget"))
        self.assertIn("there is no state 'nope'", self.fails("forget", "--older", "0s", "--state",
                                                             "nope"))

    def test_what_is_left_stays_sound(self):
        self.berth("submit", "--token", "t", "true")
        self.berth("wait", "1")
        self.berth("submit", "--hold", "--after", "ok:1", "true")
        self.berth("submit", "--hold", "--after", "ok:2", "true")
        self.berth("forget", "--older", "0s")
        self.assertIn("there is no job 1", self.fails("submit", "--after", "1", "true"))
        self.assertEqual(self.berth("submit", "--token", "t", "true"), "4\n")  # numbers go on
        self.kill_daemon()
        self.berth("daemon", "start")
        self.berth("release", "2-3")
        self.berth("wait", "2-4")


class Signals(LifeCase):
    devices = "sim:1"

    def test_hold_and_release(self):
        self.make_gates("gate")
        self.berth("submit", "cat gate")
        self.berth("submit", "true")
        self.berth("hold", "2")
        self.kill_daemon()
        self.berth("daemon", "start")
        self.assertEqual(self.state(2), "held")
        self.assertIn("held: it waits until it is released", self.why(2))
        self.assertIn("only a queued job can be held", self.fails("hold", "1"))
        self.assertIn("job 1 is running, not held", self.fails("release", "1"))
        self.release("gate")
        self.berth("wait", "1")
        self.berth("release", "2")
        self.berth("wait", "2")

    def test_a_signal_of_ones_own(self):
        self.make_gates("up", "heard")
        self.berth("submit", "trap 'echo USR1 > heard' USR1; trap 'echo 40 > heard; exit 9' 40;"
                   " echo > up; while :; do sleep 1000 & wait; done")
        self.hear("up")
        self.until_running(1)
        for name in ("USR1", "SIGUSR1", "10"):
            self.berth("kill", "--signal", name, "1")
            self.assertEqual(self.hear("heard"), "USR1")
        self.assertIn("there is no signal 'FOO'", self.fails("kill", "-s", "FOO", "1"))
        self.assertIn("there is no signal '0'", self.fails("kill", "-s", "0", "1"))
        self.berth("kill", "-s", "40", "1")
        self.assertEqual(self.hear("heard"), "40")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 9, None, 1)])

    def test_signals_have_names(self):
        self.berth("submit", "kill -9 $$")
        self.berth("wait", "1", code=1)
        self.assertIn(" SIGKILL ", self.berth("queue", "--all"))
        self.assertIn("signal         SIGKILL\n", self.berth("show", "1"))


if __name__ == "__main__":
    unittest.main()
