"""A machine without GPUs, and a daemon that remembers which devices it had."""

import unittest

from life_case import LifeCase


class NoGpu(LifeCase):
    def setUp(self):
        super().setUp()
        # No driver, and no AMD device either.
        self.env.pop("BERTH_GPUS")
        self.env.update(BERTH_SYSFS_ROOT=self.folder)
        if self.try_berth("gpus", "--gpus", "auto").returncode == 0:
            self.skipTest("this machine has a GPU")

    def test_jobs_without_gpus_run(self):
        self.berth("submit", "--wait", "--gpus", "0", "true")
        self.assertEqual(self.status()["gpus"], 0)
        self.berth("wait", "1")

    def test_the_advice_works_when_typed(self):
        said = self.fails("submit", "true")
        self.assertIn("there is no GPU here", said)
        self.assertIn("--gpus 0", said)
        advice = said.split("simulated GPUs: ")[1]
        self.assertEqual(advice, "berth daemon stop; berth daemon start --gpus sim:4")
        for command in advice.split("; "):
            self.berth(*command.split()[1:])
        self.berth("submit", "--wait", "true")
        self.assertEqual(self.status()["gpus"], 4)

    def test_run_without_gpus(self):
        done = self.try_berth("run", input="true\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--gpus none", done.stderr)
        self.berth("run", "--gpus", "none", input="true\ntest -z \"$CUDA_VISIBLE_DEVICES\"\n")

    def test_looking_starts_the_daemon(self):
        self.assertIn("no jobs run or wait", self.try_berth("queue").stderr)
        self.assertEqual(self.status()["gpus"], 0)


class Remembering(LifeCase):
    def setUp(self):
        super().setUp()
        self.env.pop("BERTH_GPUS")

    def test_devices_outlive_the_daemon(self):
        self.berth("daemon", "start", "--gpus", "sim:3")
        for end in (lambda: self.berth("daemon", "stop"), self.kill_daemon):
            end()
            self.berth("submit", "--wait", "true")  # starts it
            self.assertEqual(self.status()["gpus"], 3)
        self.berth("daemon", "stop")
        self.berth("daemon", "start", "--gpus", "sim:1")
        self.assertEqual(self.status()["gpus"], 1)

    def test_the_environment_goes_before_what_is_remembered(self):
        self.berth("daemon", "start", "--gpus", "sim:3")
        self.berth("daemon", "stop")
        self.env["BERTH_GPUS"] = "sim:2"
        self.berth("daemon", "start")
        self.assertEqual(self.status()["gpus"], 2)


if __name__ == "__main__":
    unittest.main()
