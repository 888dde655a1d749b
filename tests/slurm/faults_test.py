"""What dies on a real Slurm cluster: each job runs once, and is told truly."""

import os
import unittest

from slurm_case import SlurmCase


class Faults(SlurmCase):
    def once(self, sleep=0):
        """A job that writes down each of its runs."""
        return (f"echo begin $BERTH_JOB_ID >>{self.path('ledger')}; sleep {sleep} && "
                f"echo end $BERTH_JOB_ID >>{self.path('ledger')}")

    def check_once(self, count):
        self.wait_all()
        self.assertEqual([job["state"] for job in self.jobs()], ["succeeded"] * count)
        lines = sorted(map(tuple, self.ledger()))
        ids = [str(job["id"]) for job in self.jobs()]
        self.assertEqual(lines, sorted([("begin", i) for i in ids] + [("end", i) for i in ids]))

    def test_the_daemon_dies_before_and_after_sbatch(self):
        for point in ("slurm.before_sbatch", "slurm.after_sbatch"):
            self.berth("daemon", "stop")
            daemon = self.start_daemon(failpoints=point + "=kill")
            self.try_berth("submit", "--on", "slurm", "--", self.once())
            self.dies(daemon)
            self.start_daemon()
        self.check_once(2)

    def test_the_daemon_dies_while_jobs_run(self):
        self.berth("submit", "--on", "slurm", "--array", "20", "--", self.once(2))
        self.until("a start", self.ledger)
        self.kill_daemon()
        self.start_daemon()
        self.check_once(20)

    def test_slurmctld_is_down_when_jobs_are_submitted(self):
        self.kill_part("slurmctld")
        number = self.submit("--", self.once())
        self.until("the reason", lambda: "does not answer" in self.berth("why", str(number)))
        self.up()
        self.check_once(1)

    def test_slurmctld_dies_in_the_middle(self):
        self.berth("submit", "--on", "slurm", "--array", "30", "--", self.once(4))
        self.until("a start", self.ledger)
        self.until("saved", lambda: os.listdir(self.home + "/slurm/slurm") and any(
            os.path.exists(f"{self.home}/slurm/slurm/{name}/confirmed")
            for name in os.listdir(self.home + "/slurm/slurm")))
        self.kill_part("slurmctld")
        self.up()
        self.wait_all()
        # What started in the last seconds before the crash Slurm may have ended as an orphan.
        begun = [line[1] for line in self.ledger() if line[0] == "begin"]
        ended = {line[1] for line in self.ledger() if line[0] == "end"}
        self.assertEqual(len(begun), len(set(begun)))
        for job in self.jobs():
            self.assertEqual(job["state"] == "succeeded", str(job["id"]) in ended, job)

    def test_a_slurmd_dies_and_comes_back(self):
        self.berth("submit", "--on", "slurm", "--array", "12", "--", self.once(4))
        self.until("all started", lambda: len(self.ledger()) == 12)
        self.kill_part("slurmd-n1")
        self.up()
        self.check_once(12)

    def test_a_requeued_job_runs_again_after_the_copy_before(self):
        number = self.submit("--requeue", "--", self.once(8))
        self.until("a start", self.ledger)
        self.await_state(number, "running")
        self.slurm("scontrol", "requeue", self.slurm("squeue", "-h", "-o", "%A").strip())
        self.until("it starts", lambda: self.start_now() or len(self.ledger()) >= 2)
        self.wait_all()
        self.assertEqual(self.job(number)["state"], "succeeded")
        self.assertEqual([line[0] for line in self.ledger()], ["begin", "begin", "end"])

    def test_a_job_is_cancelled_while_slurmctld_is_down(self):
        self.kill_part("slurmctld")
        number = self.submit("--", "true")
        self.until("the reason", lambda: "does not answer" in self.berth("why", str(number)))
        self.berth("kill", str(number))
        self.await_state(number, "cancelled")


if __name__ == "__main__":
    unittest.main()
