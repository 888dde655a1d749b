"""A storm: the daemon, slurmctld and slurmds are killed at random while jobs run. Nothing is lost,
nothing runs twice, and each job's outcome is what its own ledger says."""

import os
import random
import time
import unittest

from slurm_case import NODES, SlurmCase

ROUNDS = int(os.environ.get("BERTH_STORM_ROUNDS", "5"))
JOBS = int(os.environ.get("BERTH_STORM_JOBS", "60"))
SEED = int(os.environ.get("BERTH_STORM_SEED", "0")) or random.randrange(1, 10**6)


class Storm(SlurmCase):
    def test_storm(self):
        print(f"BERTH_STORM_SEED={SEED}")
        chance = random.Random(SEED)
        ledger = self.path("ledger")
        total = 0
        for _ in range(ROUNDS):
            for _ in range(JOBS // 20):
                code = chance.choice((0, 0, 0, 3))
                self.berth("submit", "--on", "slurm", "--array", "20", "--",
                           f"echo begin $BERTH_JOB_ID $BERTH_ATTEMPT >>{ledger}; "
                           f"sleep {chance.uniform(0.1, 2):.1f}; "
                           f"echo {code} $BERTH_JOB_ID $BERTH_ATTEMPT >>{ledger}; exit {code}")
                total += 20
                time.sleep(chance.uniform(0, 2))
            for _ in range(3):
                victim = chance.choice(("daemon", "slurmctld", "slurmd"))
                if victim == "daemon":
                    self.kill_daemon()
                    time.sleep(chance.uniform(0, 2))
                    self.start_daemon()
                else:
                    self.kill_part("slurmctld" if victim == "slurmctld"
                                   else "slurmd-" + chance.choice(NODES))
                    time.sleep(chance.uniform(0, 2))
                    self.up()
                time.sleep(chance.uniform(0, 3))
        self.until("the end of all jobs", lambda: self.heal() or all(
            job["state"] not in ("queued", "starting", "running") for job in self.jobs()), 900)
        self.check(total)

    def check(self, total):
        begun = {}
        ended = {}
        for what, job, attempt in self.ledger():
            if what == "begin":
                self.assertNotIn((job, attempt), begun, "an attempt ran twice")
                begun[job, attempt] = True
            else:
                ended[job] = int(what)
        jobs = self.jobs()
        self.assertEqual(len(jobs), total)
        for job in jobs:
            number = str(job["id"])
            # What Slurm forgot in a crash it ends as an orphan: such a job has no end of its own.
            if number in ended:
                self.assertEqual((job["state"], job["exit_code"]),
                                 ("failed" if ended[number] else "succeeded", ended[number]), job)
            else:
                self.assertIn(job["state"], ("lost", "failed", "cancelled"), job)
                self.assertIn((number, str(job["attempt"])), begun, job)


if __name__ == "__main__":
    unittest.main()
