"""Jobs for a cluster, against a stand-in for Slurm's commands: what sbatch is asked, and that each
job runs once whatever is killed. tests/slurm has the same on a real cluster."""

import glob
import json
import os
import signal
import subprocess
import time
import unittest

from daemon_case import BERTH, DEADLINE, DaemonCase

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fake_slurm")


class Slurm(DaemonCase):
    def setUp(self):
        super().setUp()
        self.fake = self.path("fake")
        os.mkdir(self.fake)
        self.env.update(PATH=os.path.realpath(FAKE) + ":" + self.env["PATH"], FAKE_SLURM=self.fake)
        self.env.pop("SLURM_CONF", None)
        self.start_daemon()

    def calls(self, name):
        with open(self.fake + "/calls", encoding="utf-8") as file:
            return [call[1:] for call in map(json.loads, file) if call[0] == name]

    def until(self, what, holds, deadline=DEADLINE):
        end = time.monotonic() + deadline
        while not (value := holds()):
            self.assertLess(time.monotonic(), end, f"{what} did not come")
            time.sleep(0.05)
        return value

    def switch(self, name, text=""):
        with open(f"{self.fake}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def over(self, number):
        """Also where squeue is slow, and therefore asked seldom."""
        return self.until(f"the end of job {number}", lambda: next(
            (job for job in self.jobs() if job["id"] == number
             and job["state"] not in ("queued", "starting", "running")), None), 3 * DEADLINE)

    def wait(self, *words):
        return self.berth("wait", *words, code=None)

    def test_what_sbatch_is_asked(self):
        self.berth("submit", "--on", "slurm", "--gpus", "2", "--model", "A100", "--timeout", "1h",
                   "--priority", "3", "--partition", "gpu", "--slurm-option=--mem=4G", "--", "true")
        self.wait("1")
        (words,) = self.calls("sbatch")
        self.assertRegex(words[1], r"^--job-name=berth-[0-9a-f]{8}-[0-9a-f]{16}$")
        self.assertEqual(words[2], words[1].replace("--job-name", "--comment"))
        self.assertEqual(words[:1] + words[3:], [
            "--parsable", "--output=/dev/null", "--chdir=/", "--kill-on-invalid-dep=yes",
            "--nodes=1", "--ntasks=1", "--gpus-per-node=a100:2", "--time=62", "--nice=3",
            "--no-requeue", "--partition=gpu", "--mem=4G"])

    def test_an_array_is_one_call(self):
        self.berth("submit", "--on", "slurm", "--array", "5-24", "--",
                   "echo $BERTH_JOB_ID.$BERTH_ARRAY_INDEX.$BERTH_TARGET; exit $((BERTH_JOB_ID % 2))")
        self.wait("1-20")
        (words,) = self.calls("sbatch")
        self.assertIn("--array=0-19", words)
        for job in self.jobs():
            number = job["id"]
            self.assertEqual(job["exit_code"], number % 2)
            self.assertEqual(self.berth("logs", str(number)), f"{number}.{number + 4}.slurm\n")

    def test_text_arrives_as_it_is(self):
        tricky = "printf '%s|' \"$A\" 'it'\"'\"'s' \"a\nb\" '$x' \\\\; echo"
        self.env["A"] = "two\nlines 'and' \"quotes\""
        self.berth("submit", "--on", "slurm", "--array", "2", "--", tricky)
        self.wait("1-2")
        self.assertEqual(self.berth("logs", "2"), f"{self.env['A']}|it's|a\nb|$x|\\|\n")

    def test_a_cluster_that_is_down_is_waited_for(self):
        self.switch("down")
        self.berth("submit", "--on", "slurm", "--", "true")
        self.until("the reason", lambda: "does not answer" in self.berth("why", "1"))
        self.assertEqual(self.jobs()[0]["state"], "queued")
        os.remove(self.fake + "/down")
        self.wait("1")
        self.assertEqual(self.jobs()[0]["state"], "succeeded")

    def test_a_refusal_ends_the_job_with_slurms_words(self):
        self.switch("refuse", "sbatch_limit.txt")
        self.berth("submit", "--on", "slurm", "--", "true")
        self.wait("1")
        job = self.jobs()[0]
        self.assertEqual(job["state"], "failed")
        self.assertIn("QOSMaxSubmitJobPerUserLimit", job["reason"])
        self.assertIn("job submit limit", job["reason"])
        self.assertEqual(len(self.calls("sbatch")), 1)

    def test_a_limit_is_told_and_waited_for(self):
        for number, (limit, words) in enumerate((
                ("QOSMaxJobsPerUserLimit", "a limit of its QOS is reached"),
                ("AssocGrpGRES", "a limit of its account is reached")), 1):
            self.switch("limit", limit)
            self.berth("submit", "--on", "slurm", "--", "true")
            why = self.until("the reason",
                             lambda: limit in (w := self.berth("why", str(number))) and w)
            self.assertIn(words, why)
            self.assertEqual(self.jobs()[-1]["state"], "queued")
            os.remove(self.fake + "/limit")
            self.over(number)
            self.assertEqual(len(self.calls("sbatch")), number)
        self.assertEqual([job["state"] for job in self.jobs()], ["succeeded"] * 2)

    def test_sbatch_answers_after_the_time_is_over(self):
        self.berth("daemon", "stop")
        with open(self.home + "/clusters", "w", encoding="utf-8") as file:
            file.write("[slurm]\npatience = 1s\n")
        self.start_daemon()
        self.switch("slow", "4")
        self.berth("submit", "--on", "slurm", "--", f"echo x >>{self.path('runs')}; sleep 5")
        self.wait("1")
        self.assertEqual(self.jobs()[0]["state"], "succeeded")
        self.assertEqual(len(self.calls("sbatch")), 1)
        with open(self.path("runs"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "x\n")

    def test_a_full_folder_is_told_and_waited_for(self):
        self.berth("daemon", "stop")
        self.start_daemon(failpoints="slurm.write_batch=errno:28*1")
        self.berth("submit", "--on", "slurm", "--", "true")
        self.until("the reason", lambda: "No space left" in self.berth("why", "1"))
        self.assertEqual(self.jobs()[0]["state"], "queued")
        self.wait("1")
        self.assertEqual(self.jobs()[0]["state"], "succeeded")

    def test_an_end_that_cannot_be_written_is_tried_again(self):
        folder = self.home + "/slurm/slurm/berth-*/x"
        self.berth("submit", "--on", "slurm", "--", f"cd {folder} && mkdir .0; exit 5")
        # What the end is written to first.
        (blocked,) = self.until("the folder", lambda: glob.glob(folder + "/.0"))
        os.rmdir(blocked)
        self.wait("1")
        self.assertEqual(self.ends()[0][:2], ("failed", 5))

    def vanish(self):
        """A job whose script is killed with it, and which squeue forgets."""
        self.berth("submit", "--on", "slurm", "--",
                   f"echo $$ >{self.path('pid')}.new; mv {self.path('pid')}.new {self.path('pid')}; "
                   "exec sleep 1000")
        self.until("a start", lambda: os.path.exists(self.path("pid"))
                   and self.jobs()[0]["state"] == "running")
        for name in (self.fake + "/pid.1_0", self.path("pid")):
            with open(name, encoding="utf-8") as file:
                os.kill(int(file.read()), signal.SIGKILL)
        return self.over(1)

    def test_without_accounting_a_job_that_vanished_is_lost(self):
        job = self.vanish()
        self.assertEqual(job["state"], "lost")
        self.assertIn("no longer knows it", job["reason"])
        self.assertEqual(self.calls("sacct"), [])

    def test_accounting_tells_why_a_job_vanished(self):
        self.switch("accounting")
        self.switch("sacct", "1|NODE_FAIL|0:0|NAME")
        job = self.vanish()
        self.assertEqual(job["state"], "lost")
        self.assertIn("its node failed", job["reason"])
        self.assertEqual(self.calls("sacct"), [
            ["--noheader", "--parsable2", "--allocations", "--format=JobID,State,ExitCode,JobName",
             "--jobs=1"]])

    def test_a_submission_that_slurm_loses_is_sent_again(self):
        self.switch("lose")
        self.berth("submit", "--on", "slurm", "--", "true")
        self.wait("1")
        self.assertEqual(self.jobs()[0]["state"], "succeeded")
        self.assertEqual(len(self.calls("sbatch")), 2)

    def test_the_daemon_dies_at_each_step(self):
        for point in ("slurm.before_sbatch", "slurm.after_sbatch"):
            self.berth("daemon", "stop")
            daemon = self.start_daemon(failpoints=point + "=kill")
            self.try_berth("submit", "--on", "slurm", "--", f"echo x >>{self.path('runs')}")
            self.dies(daemon)
            self.start_daemon()
        self.wait("1-2")
        self.assertEqual([job["state"] for job in self.jobs()], ["succeeded"] * 2)
        with open(self.path("runs"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "x\nx\n")

    def test_where_a_job_runs_is_told(self):
        self.make_gates("gate0", "gate1")
        self.assertEqual(self.status()["clusters"], ["slurm"])
        self.berth("submit", "--on", "slurm", "--array", "2", "--",
                   f"read x <{self.path('gate')}$BERTH_ARRAY_INDEX")
        job = self.until("a start", lambda: next(
            (job for job in self.jobs() if job["state"] == "running" and "node" in job), None))
        self.assertEqual((job["on"], job["node"], job["gpus"]), ("slurm", "n1", ["n1:0"]))
        self.assertEqual(job["slurm_job"], f"1_{job['id'] - 1}")
        self.assertIn(f"slurm, on node n1, as job {job['slurm_job']} there",
                      self.berth("show", str(job["id"])))
        devices = json.loads(self.berth("gpus", "--on", "slurm", "--json"))["devices"]
        self.assertEqual([device.get("user") for device in devices], ["ann"] + [None] * 11)
        for index in range(2):
            self.release(f"gate{index}")
        self.wait("1-2")
        self.assertNotIn("slurm_job", self.jobs()[0])

    def test_run_waits_for_its_jobs(self):
        self.berth("run", "--on", "slurm", "--", f"echo x >>{self.path('runs')}")
        self.assertEqual(self.read("runs"), "x\n")
        self.assertEqual([job["on"] for job in self.jobs()], ["slurm"])

    # --- berth batch

    def table(self, *files):
        for name, text in (("good.sh", 'echo "$BERTH_TARGET $*" >>ledger\n'), ("bad.sh", "exit 3\n")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write("Directory,Executable,Filename,Epochs,Priority\n"
                       + "".join(f"{self.folder},sh,{name},5,0\n" for name in files))

    def test_a_batch_is_queued_there(self):
        self.table("good.sh", "good.sh")
        self.assertEqual(self.berth("batch", "t.csv", "--submit", "--on", "slurm",
                                    "--partition", "gpu", "--timeout", "1h").strip(), "1-2")
        self.wait("1-2")
        self.assertEqual(sorted(self.read("ledger").splitlines()),
                         ["slurm --epochs=5 --id=1", "slurm --epochs=5 --id=2"])
        (words,) = self.calls("sbatch")
        self.assertLessEqual({"--array=0-1", "--partition=gpu", "--time=62"}, set(words))

    def test_a_batch_there_is_waited_for(self):
        self.table("good.sh", "bad.sh")
        done = self.try_berth("batch", "t.csv", "--num", "1", "--on", "slurm")
        self.assertEqual((done.returncode, done.stdout), (1, "1-2\n"))
        self.assertIn("1 succeeded, 1 failed", done.stderr)
        self.assertEqual(self.read("ledger"), "slurm --epochs=5 --id=1\n")
        rows = json.loads(self.berth("batch", "t.csv", "--status", "--json"))["rows"]
        self.assertEqual([(row["state"], row["reason"]) for row in rows],
                         [("succeeded", None), ("failed", "exit 3")])

    def test_a_batch_that_was_interrupted_is_waited_for_again(self):
        self.make_gates("gate")
        self.table("good.sh")
        with open(self.path("good.sh"), "a", encoding="utf-8") as file:
            file.write("read x <gate; true\n")
        command = subprocess.Popen([BERTH, "batch", "t.csv", "--on", "slurm"], env=self.env,
                                   cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.assertEqual(command.stdout.readline(), "1\n")
        command.kill()
        command.communicate()
        again = subprocess.Popen([BERTH, "batch", "t.csv", "--on", "slurm"], env=self.env,
                                 cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.release("gate")
        self.assertIn("1 succeeded, 0 failed", again.communicate(timeout=DEADLINE)[1])
        self.assertEqual(again.returncode, 0)
        self.assertEqual(self.read("ledger"), "slurm --epochs=5 --id=1\n")

    def test_a_batch_there_needs_no_devices_of_here(self):
        self.table("good.sh")
        told = self.try_berth("batch", "t.csv", "--on", "slurm", "--gpus", "0,1")
        self.assertEqual(told.returncode, 2)
        self.assertIn("use one of the two", told.stderr)

    # --- ends

    def test_kill_reaches_the_job(self):
        self.berth("submit", "--on", "slurm", "--",
                   f"trap 'echo told >{self.path('told')}; exit 7' TERM; "
                   f"echo up >{self.path('up')}; while :; do sleep 0.1; done")
        self.until("a start", lambda: os.path.exists(self.path("up"))
                   and self.jobs()[0]["state"] == "running")
        self.berth("kill", "1")
        self.wait("1")
        self.assertEqual(self.jobs()[0]["state"], "cancelled")
        self.assertTrue(os.path.exists(self.path("told")))

    def test_a_second_copy_does_not_run(self):
        self.berth("submit", "--on", "slurm", "--", f"echo x >>{self.path('runs')}; sleep 3")
        self.until("a start", lambda: os.path.exists(self.path("runs")))
        folder = next(n for n in os.listdir(self.home + "/slurm/slurm") if n.startswith("berth-"))
        with open(f"{self.home}/slurm/slurm/{folder}/c/0", encoding="utf-8") as claim:
            self.assertTrue(claim.read().startswith("1.1 0 n1 0 "))
        self.kill_daemon()
        os.remove(f"{self.home}/slurm/slurm/{folder}/sent")  # as if the answer never came
        self.start_daemon()
        self.wait("1")
        with open(self.path("runs"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "x\n")
        self.assertEqual(self.jobs()[0]["state"], "succeeded")


if __name__ == "__main__":
    unittest.main()
