"""berth simjob: a job on simulated devices, however it ends."""

import json
import random
import signal
import time
import unittest

from gpu_case import DEADLINE, GIB, GpuCase


class Simjob(GpuCase):
    def used(self, gpus="sim:2"):
        document = json.loads(self.berth("gpus", "--gpus", gpus, "--json").stdout)
        return [gpu["memory_used_bytes"] for gpu in document["gpus"]]

    def test_good_end(self):
        done = self.berth("simjob", "--gpus", "sim:2", "--mem", "1GiB", "--ramp", "100ms", "--hold",
                          "50ms")
        self.assertIn("1.0 GiB on each of 2 devices", done.stdout)
        self.assertEqual(self.used(), [0, 0])
        self.berth("simjob", "--gpus", "sim:2", "--hold", "0s", "--exit", "7", code=7)

    def test_uses_what_is_visible(self):
        uuid = json.loads(self.berth("gpus", "--gpus", "sim:2", "--json").stdout)["gpus"][1]["uuid"]
        for mask, expected in (("1", [0, GIB]), (uuid, [0, GIB]), ("1,0", [GIB, GIB]),
                               ("0,7,1", [GIB, 0])):
            job = self.start("simjob", "--gpus", "sim:2", "--hold", "1h",
                             env=self.environment(CUDA_VISIBLE_DEVICES=mask))
            self.line(job)
            self.assertEqual(self.used(), expected, mask)
            self.end(job)
        none = self.berth("simjob", "--gpus", "sim:2", code=1,
                          env=self.environment(CUDA_VISIBLE_DEVICES=""))
        self.assertIn("No CUDA GPUs are available", none.stderr)

    def test_out_of_memory_in_cudas_words(self):
        self.berth("simset", "--gpus", "sim:2", "0", "foreign=20GiB")
        done = self.berth("simjob", "--gpus", "sim:2", "--gpu", "0", "--mem", "6GiB", "--ramp",
                          "200ms", code=1)
        self.assertRegex(
            done.stderr,
            r"^torch\.cuda\.OutOfMemoryError: CUDA out of memory\. Tried to allocate 1\.50 GiB "
            r"\(GPU 0; 24\.00 GiB total capacity; 3\.00 GiB already allocated; 1024\.00 MiB free; "
            r"3\.00 GiB reserved in total by PyTorch\)")
        self.assertEqual(self.used(), [20 * GIB, 0])

    def test_fails_when_told(self):
        done = self.berth("simjob", "--gpus", "sim:2", "--hold", "1h", "--fail-at", "100ms", code=1)
        self.assertIn("simulated failure", done.stderr)
        self.assertEqual(self.used(), [0, 0])

    def test_signals_end_it(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            job = self.start("simjob", "--gpus", "sim:2", "--hold", "1h")
            self.line(job)
            self.assertEqual(self.used(), [GIB, GIB])
            job.send_signal(number)
            self.assertEqual(job.wait(DEADLINE), -number)
            self.assertEqual(self.used(), [0, 0])

    def test_lost_device_fails_it(self):
        self.berth("simset", "--gpus", "sim:2", "0", "lost=1")
        self.assertIn("CUDA error", self.berth("simjob", "--gpus", "sim:2", code=1).stderr)

    def test_killed_at_any_moment_leaves_nothing(self):
        """Kills jobs while they write the state as fast as they can."""
        seed = random.randrange(1 << 30)
        moments = random.Random(seed)
        self.berth("gpus", "--gpus", "sim:2")
        for _ in range(30):
            jobs = [self.start("simjob", "--gpus", "sim:2", "--mem", "2GiB", "--ramp", "50ms",
                               "--hold", "1h") for _ in range(2)]
            # The moment is the point here, not a wait for something to happen.
            time.sleep(moments.uniform(0, 0.01))
            for job in jobs:
                job.kill()
            for job in jobs:
                self.end(job)
            self.assertEqual(self.used(), [0, 0], f"seed {seed}")

    def test_many_at_once_never_get_more_than_there_is(self):
        jobs = [self.start("simjob", "--gpus", "sim:1x8GiB", "--mem", "3GiB", "--hold", "1h",
                           "--ramp", "100ms") for _ in range(4)]
        failed = []
        end = time.monotonic() + DEADLINE
        while len(failed) < 2 and time.monotonic() < end:
            failed += [job for job in jobs if job not in failed and job.poll() is not None]
            self.assertLessEqual(self.used("sim:1x8GiB")[0], 8 * GIB)
        self.assertGreaterEqual(len(failed), 2)
        for job in failed:
            self.assertIn("out of memory", job.communicate(timeout=DEADLINE)[1])

    def test_wrong_usage(self):
        self.assertIn("sim:4", self.berth("simjob", code=2).stderr)
        for words in (("--util", "101"), ("--gpus", "0"), ("--mem", "lots"), ("--exit", "256"),
                      ("--gpus", "sim:2", "--gpu", "5")):
            self.berth("simjob", *words, code=2)


if __name__ == "__main__":
    unittest.main()
