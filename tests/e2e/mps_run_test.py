"""berth run with MPS: control daemons that come, die and go, and what jobs see of them."""

import os
import signal
import unittest

from mps_case import MpsCase
from run_case import BERTH, RunCase, of_kind


class RunMpsCase(MpsCase, RunCase):
    def setUp(self):
        super().setUp()
        self.use_fakes(self.home)
        self.env["BERTH_SIM_STATE"] = self.path("devices")
        self.env["B"] = BERTH

    def stopped(self):
        """No control daemon is left, nor anything in its folder."""
        self.eventually(lambda: not self.controls(), "a control daemon is left")

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]


class Clients(RunMpsCase):
    def test_what_they_find(self):
        show = "echo $CUDA_MPS_PIPE_DIRECTORY $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE," \
               "$CUDA_MPS_PINNED_DEVICE_MEM_LIMIT, $(mps_client)"
        done = self.run_jobs([show, "@mps=30 @mem=2GiB " + show, "@mem=1GiB @share=10 " + show,
                              "@mps=off echo .$CUDA_MPS_PIPE_DIRECTORY,,"],
                             "--mps", "--thread-percentage", "50", "--prefix", "-q", gpus="sim:1")
        lines = {line.split("] ")[0]: line.split("] ")[1].split()
                 for line in done.stdout.splitlines() if line.startswith("[")}
        found = {job.strip("["): words[-2:] for job, words in lines.items()}
        self.assertEqual(found["1"], ["50,,", "connected"])
        self.assertEqual(found["2"], ["30,0=2048M,", "connected"])
        self.assertEqual(found["3"], ["50,0=1024M,", "connected"])
        self.assertEqual(found["4"], [".,,"])
        pipe = lines["[1"][0]
        self.assertRegex(pipe, "^/tmp/berth-mps-[0-9]+/[0-9a-f]{16}/pipe$")
        self.assertEqual(self.journal("quit"), self.journal("start"))
        self.assertFalse(os.path.exists(os.path.dirname(pipe)))
        self.stopped()

    def test_they_share_a_device_and_a_control_daemon(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--mps", "--per-gpu", "3", gpus="sim:1")
        self.feed(process, *["mps_client > told; read x < gate"] * 3)
        self.assertEqual(told.lines(3), ["connected"] * 3)
        gate.let(3)
        self.finish(process)
        self.assertEqual(len(self.journal("start")), 1)
        self.assertEqual(len(self.journal("server")), 1)
        self.stopped()

    def test_each_device_has_its_own(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--mps", gpus="sim:2")
        self.feed(process, *["echo $CUDA_MPS_PIPE_DIRECTORY > told; read x < gate"] * 2)
        self.assertEqual(len(set(told.lines(2))), 2)
        self.assertEqual(len(self.controls()), 2)
        gate.let(2)
        self.finish(process)
        self.stopped()

    def test_ids_on_trust(self):
        # The control daemon shows one device, which its clients count from 0.
        done = self.run_jobs(["echo $CUDA_VISIBLE_DEVICES $BERTH_GPUS $(mps_client)"], "--mps",
                             gpus="7")
        self.assertEqual(done.stdout, "0 7 connected\n")
        self.assertEqual(self.lines()[0][2], "7")
        self.assertNotIn("MPS", done.stderr)


class Refusals(RunMpsCase):
    def test_without_the_program(self):
        self.env["PATH"] = os.path.dirname(BERTH) + ":/usr/bin:/bin"
        done = self.run_jobs(["echo ran"], "--mps", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertIn("MPS is asked for but nvidia-cuda-mps-control is not on PATH", done.stderr)
        done = self.run_jobs(["@mps=on echo ran", "echo ran too"], code=2)
        self.assertEqual(done.stdout, "ran too\n")
        self.assertIn("not run: line 1: MPS is asked for", done.stderr)

    def test_several_gpus(self):
        done = self.run_jobs(["@gpus=2 echo ran"], "--mps", code=2)
        self.assertIn("a job through MPS runs on one GPU, not 2", done.stderr)
        self.assertEqual(self.run_jobs(["@gpus=0 echo ran"], "--mps").stdout, "ran\n")
        self.assertEqual(self.journal("start"), [])

    def test_percentages(self):
        for words in (["--thread-percentage", "30"], ["--mps", "--thread-percentage", "0"],
                      ["--mps", "--thread-percentage", "101"]):
            self.assertIn("--thread-percentage", self.run_jobs(["true"], *words, code=2).stderr)

    def test_one_that_cannot_start(self):
        self.wish("refuse", "there is no CUDA here\n")
        stream = self.run_events(["echo ran"], "--mps", code=1)
        self.assertEqual(of_kind(stream, "end")[0]["state"], "failed")
        self.assertEqual([event["text"] for event in of_kind(stream, "warning")],
                         ["job 1: MPS cannot be started on GPU 0: there is no CUDA here"])
        self.assertEqual(len(self.journal("refused")), 5)


class Deaths(RunMpsCase):
    def test_of_the_control_daemon(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--mps", "--per-gpu", "2", gpus="sim:1")
        self.feed(process, "mps_client > told; read x < gate")
        self.assertEqual(told.line(), "connected")
        os.kill(self.controls()[0], signal.SIGKILL)
        self.line_with(process, "the MPS control daemon of GPU 0 has died under its jobs",
                       process.stderr)
        # A job that comes meanwhile waits for the new one.
        self.feed(process, "mps_client > told")
        self.assertEqual(told.line(), "connected")
        gate.let()
        self.finish(process)
        self.assertEqual(len(self.journal("start")), 2)
        self.stopped()

    def test_of_the_run(self):
        told = self.fifo("told")
        self.fifo("gate")
        process = self.launch("--mps", gpus="sim:1")
        self.feed(process, "mps_client > told; read x < gate")
        self.assertEqual(told.line(), "connected")
        process.kill()
        self.eventually(lambda: not self.mine(), "something is left")
        self.stopped()

    def test_of_the_run_and_its_guard(self):
        told = self.fifo("told")
        self.fifo("gate")
        process = self.launch("--mps", gpus="sim:1")
        self.feed(process, "mps_client > told; read x < gate")
        self.assertEqual(told.line(), "connected")
        mark = [pid for pid in self.children(process.pid) if pid not in self.journal("start")]
        guard = [pid for pid in mark if b"BERTH_RUN=" not in self.environ(pid)]
        self.assertEqual(len(guard), 1)
        os.kill(guard[0], signal.SIGKILL)
        process.kill()
        process.wait()
        left = self.controls()
        self.assertEqual(len(left), 1)
        # The next one finds it, uses it and ends it.
        done = self.run_jobs(["mps_client"], "--mps", gpus="sim:1")
        self.assertEqual(done.stdout, "connected\n")
        self.assertEqual(self.journal("start"), left)
        self.stopped()

    @staticmethod
    def environ(pid):
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()

    def test_of_the_user_s_patience(self):
        gate = self.fifo("slow")
        process = self.launch("--mps", gpus="sim:1")
        self.feed(process, "echo ran")
        self.journal_has("slow")
        process.send_signal(signal.SIGINT)
        out, err = self.finish(process, code=130)
        self.assertEqual(out, "")
        self.assertIn("1 did not run", err)
        gate.let()
        self.eventually(lambda: not self.mine())


class WhetherItIsUsed(RunMpsCase):
    def test_it_is_not(self):
        gate = self.fifo("gate")
        process = self.launch("--mps", gpus="sim:1")
        self.feed(process, "$B simjob --mem 1GiB --hold 1h & read x < gate")
        self.line_with(process, "job 1 does not go through MPS: GPU 0 has no MPS server",
                       process.stderr)
        gate.let()
        self.assertNotIn("does not go through", self.finish(process)[1])
        self.stopped()

    def test_it_is(self):
        stream = self.run_events(["mps_client; $B simjob --mem 1GiB --hold 2500ms"], "--mps",
                                 gpus="sim:1")
        self.assertGreater(of_kind(stream, "end")[0]["peak_memory_bytes"], 0)  # it was seen
        self.assertEqual(of_kind(stream, "warning"), [])

    def test_nobody_can_see(self):
        done = self.run_jobs(["true"], "--mps", gpus="0")
        self.assertIn("job 1 does not go through MPS", done.stderr)


if __name__ == "__main__":
    unittest.main()
