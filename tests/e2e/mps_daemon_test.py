"""The daemon with MPS: control daemons that serve its jobs, whatever is killed."""

import json
import os
import unittest

from daemon_case import BERTH
from http_case import HttpCase
from mps_case import MpsCase

CLIENT = "mps_client > told; read x < gate; echo done > told"


class DaemonMpsCase(MpsCase, HttpCase):
    devices = "sim:1"

    def setUp(self):
        super().setUp()
        self.use_fakes(self.folder)
        self.env["B"] = BERTH

    def show(self, job=1):
        return json.loads(self.berth("show", str(job), "--json"))

    def ended(self, pid):
        """Waits until the process is gone, if it is not yet."""
        try:
            self.gone(self.watch(pid))
        except ProcessLookupError:
            pass


class Jobs(DaemonMpsCase):
    def test_they_share_one_control_daemon(self):
        self.make_gates("told1", "told2", "gate1", "gate2")
        self.start_daemon()
        for n in ("1", "2"):
            self.berth("submit", "--mps", "--mem", "2GiB", "--thread-percentage", "40",
                       f"echo $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE $CUDA_MPS_PINNED_DEVICE_MEM_LIMIT "
                       f"$(mps_client) > told{n}; read x < gate{n}")
        for n in ("1", "2"):
            self.assertEqual(self.hear("told" + n), "40 0=2048M connected")
        shown = self.show()
        self.assertEqual((shown["mps"], shown["thread_percentage"]), (True, 40))
        control = self.watch(self.controls()[0])
        for n in ("1", "2"):
            self.release("gate" + n)
        self.berth("wait")
        self.gone(control)
        self.assertEqual(len(self.journal("start")), 1)
        self.assertEqual(self.journal("quit"), self.journal("start"))
        self.assertEqual([job["reason"] for job in self.jobs()], [None, None])

    def test_others_wait_for_their_device(self):
        self.make_gates("told", "gate")
        self.start_daemon()
        self.berth("submit", "--mps", "--mem", "2GiB", CLIENT)
        self.hear("told")
        self.berth("submit", "--mem", "2GiB", "true")
        self.assertIn("1 used by MPS jobs", self.berth("why", "2"))
        self.release("gate")
        self.assertEqual(self.hear("told"), "done")
        self.berth("wait")

    def test_lines_and_sweeps(self):
        self.start_daemon()
        with open(self.path("lines"), "w", encoding="utf-8") as file:
            file.write("@mps=30 @mem=1GiB mps_client\n@gpus=0 true\n@mps=off true\n")
        self.berth("submit", "--file", "lines", "--mps")
        self.berth("sweep", "mps_client {x}", "-p", "x", "1", "2", "--submit", "--name", "s",
                   "--mps", "--thread-percentage", "20")
        self.berth("wait")
        wishes = [(job["state"], job.get("mps"), job.get("thread_percentage"))
                  for job in self.jobs()]
        self.assertEqual(wishes, [("succeeded", True, 30), ("succeeded", None, None),
                                  ("succeeded", None, None), ("succeeded", True, 20),
                                  ("succeeded", True, 20)])

    def test_edited(self):
        self.start_daemon()
        self.berth("submit", "--hold", "--mem", "1GiB", "mps_client")
        self.post("/v1/jobs/edit?select=1", {"mps": True, "thread_percentage": 10})
        self.assertEqual(self.show()["thread_percentage"], 10)
        self.berth("release", "1")
        self.berth("wait")
        self.assertEqual(len(self.journal("client")), 1)


class Refusals(DaemonMpsCase):
    def test_without_the_program(self):
        self.env["PATH"] = os.path.dirname(BERTH) + ":/usr/bin:/bin"
        self.start_daemon()
        done = self.try_berth("submit", "--mps", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("MPS is asked for but nvidia-cuda-mps-control is not on PATH", done.stderr)
        self.assertEqual(self.jobs(), [])

    def test_several_gpus(self):
        self.start_daemon()
        self.assertIn("runs on one GPU, not 2",
                      self.try_berth("submit", "--gpus", "2", "--mps", "true").stderr)

    def test_one_that_cannot_start(self):
        self.wish("refuse", "there is no CUDA here\n")
        self.start_daemon()
        self.berth("submit", "--mps", "echo ran > ran")
        self.berth("wait", code=None)
        self.assertEqual(self.show()["state"], "failed")
        self.assertEqual(self.show()["reason"],
                         "MPS cannot be started on GPU 0: there is no CUDA here")
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_cancelled_while_it_starts(self):
        self.make_gates("slow")
        self.start_daemon()
        self.berth("submit", "--mps", "echo ran > ran")
        self.journal_has("slow")
        self.assertEqual(self.show()["state"], "starting")
        self.berth("kill", "1")
        self.berth("wait", code=None)
        self.assertEqual(self.show()["state"], "cancelled")
        self.assertFalse(os.path.exists(self.path("ran")))
        self.ended(self.journal("slow")[0])


class Deaths(DaemonMpsCase):
    def start_one(self):
        self.make_gates("told", "gate")
        self.berth("submit", "--mps", "--mem", "2GiB", CLIENT)
        self.assertEqual(self.hear("told"), "connected")
        return self.controls()[0]

    def test_of_the_control_daemon(self):
        self.start_daemon()
        control = self.start_one()
        self.kill_process(control)
        second = self.journal_has("start", 2)[1]
        self.make_gates("other")
        self.berth("submit", "--mps", "--mem", "2GiB", "mps_client > other")
        self.assertEqual(self.hear("other"), "connected")
        self.release("gate")
        self.assertEqual(self.hear("told"), "done")
        self.berth("wait")
        self.ended(second)
        self.assertEqual(len(self.journal("start")), 2)

    def test_of_the_daemon(self):
        self.start_daemon()
        control = self.start_one()
        self.kill_daemon()
        self.assertTrue(self.lives(control))
        self.start_daemon()
        # The new daemon serves more jobs by the old control daemon, and ends it after the last.
        self.make_gates("other")
        self.berth("submit", "--mps", "--mem", "2GiB", "mps_client > other")
        self.assertEqual(self.hear("other"), "connected")
        self.release("gate")
        self.assertEqual(self.hear("told"), "done")
        self.berth("wait")
        self.ended(control)
        self.assertEqual(self.journal("start"), [control])
        self.assertEqual(self.journal("quit"), [control])

    def test_of_the_daemon_while_it_starts_one(self):
        self.make_gates("slow", "told", "gate")
        self.start_daemon()
        self.berth("submit", "--mps", "--mem", "2GiB", CLIENT)
        first = self.journal_has("slow")[0]
        self.kill_daemon()
        self.start_daemon()
        # Nothing could be seen of the first: there is a second now, and one of them will give way.
        self.journal_has("slow", 2)
        self.release("slow")
        self.assertEqual(self.hear("told"), "connected")
        self.assertEqual(len(self.controls()), 1)
        self.assertEqual(len(self.journal("start")), 1)
        self.release("gate")
        self.assertEqual(self.hear("told"), "done")
        self.berth("wait")
        for pid in (first, *self.journal("slow")):
            self.ended(pid)

    def test_of_both_with_the_job_over(self):
        self.start_daemon()
        control = self.start_one()
        self.kill_daemon()
        self.release("gate")
        self.assertEqual(self.hear("told"), "done")
        self.assertTrue(self.lives(control))  # nobody was there to end it
        self.start_daemon()
        self.ended(control)
        self.berth("wait")
        self.assertEqual(self.show()["state"], "succeeded")
        self.assertEqual(self.journal("start"), [control])

    def test_a_daemon_that_stops_leaves_it_to_the_next(self):
        self.start_daemon()
        control = self.start_one()
        self.berth("daemon", "stop")
        self.assertTrue(self.lives(control))
        self.start_daemon()
        self.release("gate")
        self.assertEqual(self.hear("told"), "done")
        self.ended(control)
        self.berth("daemon", "stop")
        self.assertEqual(self.journal("start"), [control])


class WhetherItIsUsed(DaemonMpsCase):
    def test_it_is_not(self):
        self.make_gates("gate")
        self.start_daemon()
        events = self.listen()
        self.berth("submit", "--mps", "$B simjob --mem 1GiB --hold 1h & read x < gate; true")
        shown = events.until(lambda event: event.name == "job" and event.data["reason"])[-1].data
        self.assertIn("job 1 does not go through MPS: GPU 0 has no MPS server", shown["reason"])
        self.assertEqual(shown["state"], "running")
        self.assertIn("does not go through MPS", self.berth("show", "1"))
        self.release("gate")
        self.berth("wait")
        self.assertEqual(self.show()["state"], "succeeded")
        self.assertIn("does not go through MPS", self.show()["reason"])


if __name__ == "__main__":
    unittest.main()
