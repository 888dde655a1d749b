"""A real Slurm cluster with accounting storage: its limits, and what only sacct still knows."""

import unittest

from slurm_case import SlurmCase


class Accounting(SlurmCase):
    cluster_options = {"BERTH_SLURM_DBD": "1", "BERTH_SLURM_ENFORCE": "limits,qos",
                       "BERTH_SLURM_MINJOBAGE": "5"}

    def setUp(self):
        super().setUp()
        for words in (["add", "account", "lab"],
                      ["add", "user", "root", "account=lab", "defaultaccount=lab"],
                      ["add", "qos", "few", "maxjobsperuser=1"],
                      ["add", "qos", "fewer", "maxsubmitjobsperuser=1"],
                      ["modify", "user", "root", "set", "qos+=few,fewer"]):
            self.slurm("sacctmgr", "--immediate", "--quiet", *words)

    def test_limits_are_told_and_not_retried(self):
        first = self.submit("--qos", "few", "--", f"until [ -e {self.path('go')} ]; do sleep 0.2; done")
        self.await_state(first, "running")
        second = self.submit("--qos", "few", "--", "true")
        self.until("the limit",
                   lambda: "QOSMaxJobsPerUserLimit" in self.berth("why", str(second)))
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        self.await_state(second, "succeeded")
        waits = self.submit("--qos", "fewer", "--", "sleep 1000")
        self.await_state(waits, "running")
        refused = self.submit("--qos", "fewer", "--", "true")
        job = self.await_state(refused, "failed")
        self.assertIn("QOSMaxSubmitJobPerUserLimit", job["reason"])

    def test_sacct_tells_who_cancelled_a_job_that_squeue_has_forgotten(self):
        number = self.submit("--", "sleep 1000")
        self.await_state(number, "running")
        self.kill_daemon()
        self.slurm("scancel", "--me")
        self.until("squeue forgets", lambda: not self.slurm("squeue", "-h", "-t", "all"), 180)
        self.start_daemon()
        job = self.await_state(number, "cancelled")
        self.assertIn("root cancelled it in Slurm", job["reason"])


if __name__ == "__main__":
    unittest.main()
