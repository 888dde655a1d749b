"""Whose process it is, the kernel says: nobody becomes part of a job by what is in its environment."""

import os
import subprocess
import unittest

from http_case import NOBODY, HttpCase
from daemon_case import BERTH

GIB = 1 << 30


class Ownership(HttpCase):
    devices = "sim:1x24GiB"

    def setUp(self):
        super().setUp()
        self.env["B"] = BERTH
        self.env["BERTH_SIM_STATE"] = self.folder + "/devices"
        self.start_daemon(words=["--everyone", "--enforce"])
        os.chmod(self.folder, 0o711)
        os.chmod(self.folder + "/devices", 0o666)  # as a GPU is for everyone

    def start_job(self):
        """One that runs and stays within its claim."""
        self.make_gates("gate")
        self.berth("submit", "--mem", "8GiB",
                   "$B simjob --mem 4GiB --hold 1h & read x < gate; kill $!")
        self.device_until(lambda device: device["used_bytes"] == 4 * GIB)

    def start_stranger(self, user):
        """A process that says it is of job 1, and takes more than job 1 may have."""
        env = dict(self.env, BERTH_RUN=self.home, BERTH_JOB_ID="1", BERTH_ATTEMPT="1")
        stranger = subprocess.Popen(
            [BERTH, "simjob", "--gpus", self.devices, "--gpu", "0", "--mem", "10GiB", "--hold",
             "1h"], env=env, user=user, stdout=subprocess.DEVNULL)
        self.addCleanup(self.end_process, stranger)

    def device_until(self, is_so):
        self.eventually(lambda: is_so(self.get("/v1/devices")["devices"][0]), "no such reading")

    def is_foreign(self):
        # In a reading with both of them, whosever they are.
        self.device_until(lambda device: device["foreign_bytes"] == 10 * GIB
                          or self.get("/v1/jobs/1")["peak_memory_bytes"] > 4 * GIB)
        job = self.get("/v1/jobs/1")
        self.assertEqual((job["state"], job["peak_memory_bytes"]), ("running", 4 * GIB))
        self.release("gate")
        self.berth("wait", "1")
        self.assertEqual(self.ends(), [("succeeded", 0, None, 1)])

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_a_stranger_cannot_end_a_job_by_saying_that_it_is_of_it(self):
        self.start_job()
        self.start_stranger(NOBODY)
        self.is_foreign()

    def test_nor_can_a_process_of_the_same_user_where_the_job_has_a_cgroup(self):
        self.start_job()
        pid = self.get("/v1/jobs/1")["attempts"][0]["pid"]
        if "/berth-" not in self.proc(pid, "cgroup"):
            self.skipTest("cgroup v2 cannot be written here")
        self.start_stranger(None)
        self.is_foreign()


if __name__ == "__main__":
    unittest.main()
