"""Jobs on a real Slurm cluster: the daemon's commands mean there what they mean here."""

import os
import unittest

from slurm_case import GPUS, NODES, SlurmCase


class Jobs(SlurmCase):
    def test_a_job_runs_and_is_told_truly(self):
        number = self.submit("--", "echo on $SLURMD_NODENAME $BERTH_JOB_ID; exit 3")
        self.berth("wait", str(number), code=None)
        job = self.job(number)
        self.assertEqual((job["state"], job["exit_code"]), ("failed", 3))
        self.assertRegex(self.berth("logs", str(number)), rf"^on n[123] {number}\n")

    def test_waiting_and_running_jobs_are_killed(self):
        self.berth("submit", "--on", "slurm", "--array", "12", "--", "sleep 1000")
        late = self.submit("--", f"touch {self.path('late')}")
        self.until("twelve running", lambda: sum(
            job["state"] == "running" for job in self.jobs()) == 12)
        self.assertEqual(self.job(late)["state"], "queued")
        self.until("a reason", lambda: "cluster" in self.berth("why", str(late)))
        self.berth("kill", str(late))
        self.await_state(late, "cancelled")
        self.berth("kill", "1-12", "--yes")
        self.wait_all()
        self.assertEqual({job["state"] for job in self.jobs()}, {"cancelled"})
        self.assertFalse(os.path.exists(self.path("late")))
        self.until("an empty queue", lambda: not self.slurm("squeue", "-h"))

    def test_jobs_here_and_there_follow_each_other(self):
        first = self.submit("--", f"echo there >>{self.path('order')}")
        second = int(self.berth("submit", "--after", f"ok:{first}", "--",
                                f"echo here >>{self.path('order')}"))
        third = self.submit("--after", f"ok:{second}", "--", f"echo there >>{self.path('order')}")
        failed = self.submit("--after", f"ok:{third}", "--", "false")
        never = self.submit("--after", f"ok:{failed}", "--", "true")
        self.wait_all()
        self.assertEqual(self.ledger("order"), [["there"], ["here"], ["there"]])
        self.assertEqual(self.job(never)["state"], "cancelled")

    def test_a_sweep_uses_every_device_and_none_twice_at_once(self):
        script = ("echo begin $BERTH_JOB_ID $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES "
                  f"$(date +%s%N) >>{self.path('ledger')}; sleep 0.2; "
                  f"echo end $BERTH_JOB_ID $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES $(date +%s%N) "
                  f">>{self.path('ledger')}")
        self.berth("submit", "--on", "slurm", "--array", "200", "--", script)
        self.wait_all()
        self.assertEqual({job["state"] for job in self.jobs()}, {"succeeded"})
        spans = {}
        begun = {}
        for what, job, node, gpu, at in self.ledger():
            if what == "begin":
                self.assertNotIn(job, begun, "it ran twice")
                begun[job] = int(at)
            else:
                spans.setdefault((node, gpu), []).append((begun[job], int(at)))
        self.assertEqual(len(begun), 200)
        self.assertEqual(set(spans), {(n, str(g)) for n in NODES for g in range(GPUS)})
        for device, used in spans.items():
            used.sort()
            for (_, end), (start, _) in zip(used, used[1:]):
                self.assertLessEqual(end, start, f"{device} was used twice at once")

    def test_a_limit_ends_a_job(self):
        number = self.submit("--timeout", "2s", "--", "sleep 1000")
        self.assertEqual(self.await_state(number, "timed_out")["state"], "timed_out")

    def test_a_job_that_fails_is_tried_again(self):
        number = self.submit("--retries", "2", "--",
                             f"echo x >>{self.path('tries')}; [ $(wc -l <{self.path('tries')}) = 3 ]")
        self.berth("wait", str(number))
        self.assertEqual(self.job(number)["attempt"], 3)

    def test_scancel_from_outside_is_told(self):
        running = self.submit("--", "sleep 1000")
        self.await_state(running, "running")
        self.slurm("scancel", "--me")
        job = self.await_state(running, "cancelled")
        self.assertIn("cancelled it in Slurm", job["reason"])

    def test_what_cannot_be_is_refused_at_once(self):
        self.submit("--", "true")
        self.wait_all()  # by now the cluster has told what it is made of
        for words, why in ((["--gpus", "9"], "9 GPUs"), (["--model", "h100"], "a100, t4"),
                           (["--only", "0"], "--nodelist"), (["--partition", "none"], "none"),
                           (["--slurm-option=--array=3"], "--array"),
                           (["--priority=-4"], "priority")):
            done = self.try_berth("submit", "--on", "slurm", *words, "--", "true")
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(why, done.stderr)
        self.assertEqual(len(self.jobs()), 1)


if __name__ == "__main__":
    unittest.main()
