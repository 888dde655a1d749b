"""The daemon's own life: devices that come and go, pauses, stops, clocks and descriptors."""

import json
import os
import resource
import unittest

from life_case import LifeCase


class Devices(LifeCase):
    devices = "0,1"

    def table(self):
        """Of each device that the daemon has: its jobs and its state."""
        return {gpu["name"]: (gpu["jobs"], gpu["state"])
                for gpu in json.loads(self.berth("gpus", "--json"))["gpus"]}

    def test_devices_come_and_go(self):
        self.make_gates("gate0", "gate1")
        self.berth("submit", "--array", "2", "cat gate$BERTH_ARRAY_INDEX")
        self.berth("submit", "echo $CUDA_VISIBLE_DEVICES")
        self.berth("gpus", "drain", "0")
        self.berth("gpus", "remove", "1")
        self.assertEqual(self.table(), {"0": ([1], "drained"), "1": ([2], "removed")})
        self.assertIn("needs 2 GPUs, but there is only 1 here",
                      self.fails("submit", "--gpus", "2", "true"))
        self.assertIn("no driver here shows a device 2,3", self.fails("gpus", "add", "2,3"))
        self.berth("gpus", "add", "trust:2,3")
        self.berth("wait", "3")
        self.assertIn(self.berth("logs", "3"), ("2\n", "3\n"))
        for restart in (False, True):
            if restart:
                self.berth("daemon", "stop")
                self.berth("daemon", "start")
            self.assertEqual(self.table(), {"0": ([1], "drained"), "1": ([2], "removed"),
                                            "2": ([], "ok"), "3": ([], "ok")})
            self.assertEqual(self.status()["gpus"], 3)
        self.release("gate0")
        self.release("gate1")
        self.berth("wait", "1-2")
        self.assertEqual([job["state"] for job in self.jobs()], ["succeeded"] * 3)
        self.assertEqual(sorted(self.table()), ["0", "2", "3"])
        self.berth("gpus", "undrain", "0")
        self.berth("gpus", "add", "1")
        self.berth("submit", "--gpus", "4", "echo $CUDA_VISIBLE_DEVICES")
        self.berth("wait", "4")
        self.assertEqual(self.berth("logs", "4"), "0,1,2,3\n")

    def test_what_is_wrong_is_said(self):
        self.berth("daemon", "start")
        for verb in ("drain", "undrain", "remove"):
            self.assertIn("there is no device 7 here", self.fails("gpus", verb, "7"))
        self.assertIn("NAME… is missing", self.fails("gpus", "drain"))
        self.assertEqual(sorted(self.table()), ["0", "1"])


class Stopping(LifeCase):
    devices = "sim:1"

    def test_stop_returns_when_it_is_gone(self):
        self.berth("submit", "true")
        for number in range(2, 6):
            self.berth("daemon", "stop")
            self.assertEqual(self.berth("submit", "true"), f"{number}\n")
        self.berth("wait")
        self.assertEqual(self.berth("daemon", "stop"), "stopped\n")
        self.berth("daemon", "stop", code=3)

    def test_what_goes_on_without_it(self):
        self.make_gates("up", "gate")
        self.berth("submit", "echo > up; cat gate")
        self.hear("up")
        self.berth("submit", "true")
        self.assertEqual(self.berth("daemon", "stop"),
                         "stopped; 1 running job goes on; 1 job waits for the next daemon\n")
        self.release("gate")
        self.berth("wait")
        self.assertEqual([end[0] for end in self.ends()], ["succeeded"] * 2)

    def test_a_pause_outlives_it(self):
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("daemon", "stop")
        self.berth("submit", "true")
        self.assertTrue(self.status()["paused"])
        self.assertEqual(self.state(1), "queued")
        self.berth("daemon", "resume")
        self.berth("daemon", "stop")
        self.berth("daemon", "start")
        self.berth("wait", "1")


class Clock(LifeCase):
    devices = "sim:1"

    def test_a_clock_that_is_set_back(self):
        """Between two daemons. What is on record does not run backwards."""
        self.make_gates("up", "gate", "gate2")
        self.env["BERTH_CLOCK_OFFSET"] = "7200"
        self.berth("submit", "true")
        self.berth("wait", "1")
        self.berth("submit", "echo $PPID > up; cat gate")
        shim = self.watch(int(self.hear("up")))
        self.berth("submit", "cat gate2")
        self.kill_daemon()
        self.release("gate")  # it ends while nobody looks
        self.gone(shim)
        del self.env["BERTH_CLOCK_OFFSET"]
        self.berth("daemon", "start")
        self.berth("submit", "--begin", "1s", "true")
        self.release("gate2")
        self.berth("wait")
        times = [time for job in self.jobs()
                 for time in (job["submitted"], job["started"], job["ended"])]
        self.assertEqual([end[0] for end in self.ends()], ["succeeded"] * 4)
        for job in self.jobs():
            self.assertLessEqual(job["submitted"], job["started"])
            self.assertLessEqual(job["started"], job["ended"])
        self.assertLess(max(times) - min(times), 60)
        self.assertLessEqual(self.show(2)["ended"], self.show(3)["started"])


class Descriptors(LifeCase):
    devices = "sim:1"

    def test_none_for_a_job_that_waits(self):
        count = 100_000
        os.mkdir(self.path("out"))
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("submit", "--array", str(count), "--gpus", "0", "-o", "out/%a", "echo %a")
        self.assertLess(len(os.listdir(f"/proc/{self.status()['pid']}/fd")), 100)
        self.assertEqual(os.listdir(self.path("out")), [])
        self.berth("daemon", "resume")
        self.berth("wait", "1-50")
        self.berth("kill", "state=queued")
        self.berth("wait")
        ran = self.status()["jobs"]["succeeded"]
        self.assertEqual(self.status()["jobs"]["cancelled"], count - ran)
        self.assertEqual(len(os.listdir(self.path("out"))), ran)


if __name__ == "__main__":
    unittest.main()
