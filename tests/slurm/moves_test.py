"""Jobs that move between this machine and a real Slurm cluster."""

import json
import unittest

from slurm_case import SlurmCase


class Moves(SlurmCase):
    def fill_cluster(self):
        self.berth("submit", "--on", "slurm", "--array", "12", "--", "sleep 1000")
        self.until("a full cluster", lambda: sum(
            job["state"] == "running" for job in self.jobs()) == 12)

    def test_a_job_that_waits_there_is_held_and_moved_here(self):
        self.fill_cluster()
        number = self.submit("--", f"echo ${{SLURM_JOB_ID:-here}} >>{self.path('ran')}")
        self.until("it waits", lambda: "cluster" in self.berth("why", str(number)))
        self.berth("hold", str(number))
        self.assertEqual(self.job(number)["state"], "held")
        self.berth("release", str(number))
        self.until("it waits again", lambda: "cluster" in self.berth("why", str(number)))
        self.berth("edit", "--on", "local", str(number))
        self.berth("wait", str(number))
        self.assertEqual(self.ledger("ran"), [["here"]])

    def test_auto_goes_where_it_starts_sooner(self):
        self.berth("submit", "--expected", "1h", "--", "sleep 1000")  # the one device here
        number = int(self.berth("submit", "--on", "auto", "--timeout", "5m", "--",
                                f"echo $BERTH_TARGET >{self.path('ran')}"))
        self.berth("wait", str(number))
        self.assertEqual(self.ledger("ran"), [["slurm"]])

    def test_auto_stays_where_it_starts_at_once(self):
        number = int(self.berth("submit", "--on", "auto", "--",
                                f"echo ${{SLURM_JOB_ID:-here}} >{self.path('ran')}"))
        self.berth("wait", str(number))
        self.assertEqual(self.ledger("ran"), [["here"]])

    def test_devices_are_shown_with_who_holds_them(self):
        number = self.submit("--", "sleep 1000")
        job = self.await_state(number, "running")
        self.slurm("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=a fan broke")
        devices = json.loads(self.berth("gpus", "--on", "slurm", "--json"))["devices"]
        self.assertEqual(len(devices), 12)
        held = [f"{d['node']}:{d['gpu']}" for d in devices if "slurm_job" in d]
        self.assertEqual(held, job["gpus"])
        self.assertIn("a fan broke", self.berth("gpus", "--on", "slurm"))

    def test_run_hands_a_file_of_commands_in_and_waits(self):
        lines = "".join(f"echo {i} $SLURMD_NODENAME >>{self.path('ran')}\n" for i in range(5))
        self.berth("run", "--on", "slurm", input=lines)
        self.assertEqual(sorted(line[0] for line in self.ledger("ran")), list("01234"))
        self.assertEqual({len(line) for line in self.ledger("ran")}, {2})


if __name__ == "__main__":
    unittest.main()
