"""When jobs are expected to start, and why they have not started yet."""

import os
import time
import unittest

from daemon_case import BERTH
from life_case import LifeCase

GIB = 1 << 30


class Expected(LifeCase):
    devices = "sim:1"

    def setUp(self):
        super().setUp()
        self.make_gates("gate")

    def starts_in(self, job):
        """Seconds from now, as each of the commands says."""
        shown = self.show(job)["expected_start"]
        listed = [one for one in self.jobs() if one["id"] == job][0]["expected_start"]
        self.assertAlmostEqual(shown, listed, delta=1)
        self.assertRegex(self.why(job), "; expected to start (in |soon)")
        self.assertRegex(self.berth("queue"), rf"(?m)^ *{job}  queued .* (in \w+|soon) ")
        return shown - time.time()

    def test_from_what_the_user_expects(self):
        self.berth("submit", "--expected", "10m", "cat gate")
        self.berth("submit", "--expected", "1h", "true")
        self.berth("submit", "true")
        self.assertAlmostEqual(self.starts_in(2), 600, delta=30)
        self.assertAlmostEqual(self.starts_in(3), 4200, delta=30)
        self.assertRegex(self.why(2), r"^needs 1 GPU, and none has room now \(1 busy\);"
                         r" expected to start in (9m|10m)")
        self.assertRegex(self.why(3), r"\(1 busy\); room is expected in about (9m|10m)\w+;"
                         " 1 job is ahead of it; expected to start in 1h")
        self.berth("edit", "3", "--priority", "-1")
        self.assertAlmostEqual(self.starts_in(3), 600, delta=30)

    def test_who_can_pass_it(self):
        """The default's window is twenty lengths; of a long job, never more than eight days."""
        self.berth("submit", "cat gate")
        self.berth("submit", "--expected", "10m", "true")
        self.berth("submit", "--expected", "300d", "true")
        self.berth("submit", "true")
        told = self.show(2)
        self.assertEqual(told["promise"]["length_s"], 600)
        self.assertAlmostEqual(told["promise"]["window_s"], 12000, delta=300)
        self.assertAlmostEqual(told["promise"]["passed_until"],
                               told["submitted"] + told["promise"]["window_s"], delta=1)
        self.assertLess(self.show(3)["promise"]["window_s"], 8 * 86400)
        self.assertNotIn("length_s", self.show(4)["promise"])
        until = time.strftime("%H:%M", time.localtime(told["promise"]["passed_until"]))
        self.assertRegex(self.why(2), r"; a job of its length \(about 10m00s\) is passed only by jobs"
                         r" of its owner and priority that are submitted within 3h1\dm of it, that is"
                         rf" until (\d{{4}}-\d\d-\d\d )?{until}(;|$)")
        self.assertIn("a job of unknown length is passed only", self.why(4))
        self.berth("hold", "2")
        self.assertNotIn("promise", self.show(2))  # it has no place in the order
        self.assertNotIn("promise", self.show(1))

    def test_what_other_policies_promise(self):
        self.berth("daemon", "start", "--policy", "conservative")
        self.berth("submit", "--expected", "10m", "cat gate")
        self.berth("submit", "--expected", "1h", "true")
        self.assertAlmostEqual(self.show(2)["promise"]["start"], time.time() + 600, delta=60)
        self.assertRegex(self.why(2), "; it starts by [-0-9: ]+ at the latest, unless running jobs")
        self.berth("daemon", "policy", "fifo")
        self.assertNotIn("promise", self.show(2))

    def test_as_an_interval_once_forecasts_have_been_compared_with_starts(self):
        self.berth("submit", "--expected", "1s", "cat gate")
        for _ in range(25):  # one job stands for each forecast
            self.berth("submit", "--expected", "1s", "true")
            self.eventually(lambda: all("expected_start" in job for job in self.jobs()
                                        if job["state"] == "queued"))
        waiting = [job for job in self.jobs() if job["state"] == "queued"]
        self.assertEqual(len(waiting), 25)
        for job in waiting:
            self.assertGreater(job["expected_start"], 0)
            self.assertNotIn("expected_start_from", job)  # nothing has been learned yet
        self.release("gate")
        self.berth("wait")
        self.berth("submit", "--expected", "40s", "cat gate")
        self.berth("submit", "--expected", "1s", "true")
        job = self.show(28)
        self.assertLess(job["expected_start_from"], job["expected_start_to"])
        self.assertEqual(job["expected_start_coverage"], 0.9)
        interval = r"(now|[0-9: -]+)–[0-9: -]+ \(90 %\)"
        self.assertRegex(self.why(28), "; expected to start " + interval)
        self.assertRegex(self.berth("show", "28"), r"(?m)^starts +" + interval)
        self.assertRegex(self.berth("queue"), r"(?m)^ *28  queued .* " + interval)

    def test_from_the_limit(self):
        self.berth("submit", "--timeout", "30m", "cat gate")
        self.berth("submit", "true")
        self.assertAlmostEqual(self.starts_in(2), 1800, delta=30)

    def test_from_what_such_jobs_took_before(self):
        """The same command with other numbers is such a job; jobs of a few seconds are all alike."""
        self.berth("submit", "sleep 0.1; : --lr 0.1")
        self.berth("wait")
        self.berth("submit", "--hold", "sleep 9; : --lr 0.001")
        self.assertEqual(self.show(2)["expected_s"], 5)
        self.kill_daemon()
        self.berth("daemon", "start")
        self.berth("submit", "--hold", "sleep 99; : --lr 1e-5")
        self.assertEqual(self.show(3)["expected_s"], 5)

    def test_from_what_the_user_s_other_jobs_took_before(self):
        self.berth("submit", "--hold", "sleep 99; : --momentum 1e-5")
        self.assertNotIn("expected_s", self.show(1))
        self.berth("submit", "true")
        self.berth("wait", "2")
        self.eventually(lambda: self.show(1).get("expected_s") == 5)


class Reasons(LifeCase):
    devices = "sim:2x24GiB"

    def setUp(self):
        super().setUp()
        self.make_gates("gate", "gate2")

    def simset(self, device, setting):
        self.berth("simset", "--gpus", self.devices, str(device), setting)

    def test_a_device_that_is_drained(self):
        self.berth("submit", "cat gate")
        self.berth("gpus", "drain", "1")
        self.berth("submit", "true")
        self.assertIn("none has room now (1 busy, 1 drained)", self.why(2))
        self.berth("gpus", "undrain", "1")
        self.berth("wait", "2")
        self.release("gate")
        self.berth("wait")

    def test_memory_that_others_use(self):
        self.berth("daemon", "start")
        for device in (0, 1):
            self.simset(device, "foreign=20GiB")
        self.devices_until(lambda seen: all(seen[name]["foreign_bytes"] == 20 * GIB
                                            for name in "01"))
        self.berth("submit", "true")
        self.berth("submit", "--mem", "10GiB", "true")
        self.berth("submit", "--mem", "1GiB", "true")
        self.berth("wait", "3")
        for job in (1, 2):
            self.assertIn("(2 with too little memory beside other programs)", self.why(job))
        self.simset(0, "foreign=0")
        self.berth("wait")

    def test_a_program_that_berth_did_not_start(self):
        self.berth("daemon", "start")
        stranger = self.start("simjob", "--gpus", self.devices, "--mem", "20GiB", "--hold", "1h")
        self.devices_until(lambda seen: seen["0"]["foreign_bytes"] == 20 * GIB)
        self.berth("submit", "--gpus", "2", "true")
        self.assertIn("needs 2 GPUs, and none has room now (2 with too little memory",
                      self.why(1))
        stranger.terminate()
        self.berth("wait", "1")

    def test_a_device_that_is_lost_under_a_job(self):
        self.berth("submit", "--only", "0", "cat gate")
        self.simset(0, "lost=1")
        self.devices_until(lambda seen: seen["0"]["health"] == "lost")
        self.berth("submit", "--only", "0", "true")
        self.berth("submit", "true")
        self.berth("wait", "3")
        self.assertEqual(self.show(3)["gpus"], ["1"])
        self.assertEqual(self.state(1), "running")
        self.assertIn("needs 1 GPU (only 0), and none has room now (1 lost)", self.why(2))
        self.assertRegex(self.berth("gpus"), r"(?m)^0 +lost .* 1$")
        self.release("gate")
        self.berth("wait", "1")
        self.assertEqual(self.state(2), "queued")
        self.simset(0, "lost=0")
        self.berth("wait", "2")

    def test_the_places_of_others(self):
        self.berth("submit", "--expected", "10m", "cat gate")
        self.berth("submit", "--gpus", "2", "--expected", "1h", "true")
        self.berth("submit", "--expected", "1h", "true")
        self.assertRegex(self.why(3), "^the free devices are kept for job 2, which waits for more"
                         " of them and should start in about (9m|10m).*; expected to start in")
        self.berth("hold", "2")
        self.berth("wait", "3")
        self.berth("kill", "1")
        self.berth("release", "2")
        self.berth("wait", "2")

    def test_the_policys_order(self):
        self.env["BERTH_GPUS"] = "sim:2"
        self.berth("daemon", "start", "--policy", "fifo")
        self.berth("submit", "cat gate")
        self.berth("submit", "--gpus", "2", "true")
        self.berth("submit", "true")
        self.assertIn("job 2 comes first in the policy's order; 1 job is ahead of it", self.why(3))
        self.release("gate")
        self.berth("wait")

    def test_a_paused_daemon_and_cpus(self):
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("submit", "true")
        self.assertEqual(self.why(1), "the scheduler is paused and starts nothing")
        self.berth("daemon", "resume")
        self.berth("wait", "1")
        self.assertEqual(self.why(1), "it has ended: succeeded")
        cpus = os.cpu_count()
        self.berth("submit", "--array", str(cpus), "--gpus", "0", "sleep 1000")
        self.berth("submit", "--gpus", "0", "true")
        self.assertIn("as many jobs without GPUs run as there are CPUs", self.why(2 + cpus))


class Record(LifeCase):
    devices = "sim:1"

    def test_memory_and_energy_are_on_record(self):
        self.make_gates("gate")
        self.berth("submit", f"{BERTH} simjob --mem 2GiB --hold 1h & read x < gate; kill $!")
        self.devices_until(lambda seen: seen["0"]["jobs"]
                           and seen["0"]["jobs"][0]["used_bytes"] == 2 * GIB)
        self.assertEqual(self.show(1)["peak_memory_bytes"], 2 * GIB)
        self.devices_until(lambda seen: self.show(1).get("energy_j", 0) > 0)
        self.release("gate")
        self.berth("wait", "1")
        job = self.show(1)
        self.assertEqual(job["peak_memory_bytes"], 2 * GIB)
        self.assertGreater(job["energy_j"], 0)
        self.assertAlmostEqual(job["gpu_seconds"], job["ended"] - job["started"], delta=0.01)
        self.assertRegex(self.berth("show", "1"), r"(?m)^peak memory +2.0 GiB\nenergy +\d+ J$")


if __name__ == "__main__":
    unittest.main()
