"""berth run beside another berth run: each device is one's alone, and free when nothing is left."""

import json
import os
import pwd
import signal
import unittest

from run_case import BERTH, BUILD, RunCase

USER = pwd.getpwuid(os.geteuid()).pw_name


class Locks(RunCase):
    def setUp(self):
        super().setUp()
        self.told, self.gate = self.fifo("told"), self.fifo("gate")

    def hold(self, gpus="0", job="echo $BERTH_GPUS > told; read x < gate"):
        run = self.launch(gpus=gpus)
        self.feed(run, job)
        return run, self.told.line()

    def test_the_second_waits_and_says_so_once(self):
        first, _ = self.hold()
        second = self.launch(gpus="0")
        self.feed(second, "echo second", "echo third")
        self.line_with(second, f"GPU 0 is in use by another berth ({USER}'s run, process "
                       f"{first.pid}: berth run): waiting for it", second.stderr)
        self.gate.let()
        out, err = self.finish(second)
        self.assertEqual(out, "second\nthird\n")
        self.assertNotIn("in use by", err)
        self.finish(first)

    def test_it_takes_what_is_free(self):
        first, gpu = self.hold(gpus="0,1")
        self.assertEqual(gpu, "0")
        out, err = self.finish_lines("0,1", ["echo $BERTH_GPUS", "echo $BERTH_GPUS"])
        self.assertEqual(out, "1\n1\n")
        self.gate.let()
        self.finish(first)
        out, err = self.finish_lines("0,1", ["echo $BERTH_GPUS"])
        self.assertEqual(out, "0\n")
        self.assertNotIn("another berth", err)

    def finish_lines(self, gpus, lines):
        run = self.launch(gpus=gpus)
        self.feed(run, *lines)
        return self.finish(run)

    def test_a_device_is_given_back_between_jobs(self):
        """A run that idles on its open input keeps nobody waiting."""
        first, _ = self.hold()
        self.gate.let()
        self.line_with(first, "[1] ok", first.stderr)
        self.assertEqual(self.finish_lines("0", ["echo $BERTH_GPUS"])[0], "0\n")
        self.feed(first, "echo again")
        self.assertEqual(self.finish(first)[0], "again\n")

    def test_an_id_twice_is_two_slots_of_one_owner(self):
        first = self.launch(gpus="0,0")
        self.feed(first, *["echo > told; read x < gate"] * 2)
        self.told.lines(2)
        second = self.launch(gpus="0")
        self.feed(second, "echo second")
        self.line_with(second, "in use by another berth", second.stderr)
        self.gate.let()
        self.line_with(first, "] ok", first.stderr)
        self.assertIsNone(second.poll())
        self.gate.let()
        self.assertEqual(self.finish(second)[0], "second\n")
        self.finish(first)

    def test_several_devices_wait_for_all(self):
        first, _ = self.hold(gpus="1")
        second = self.launch(gpus="0,1")
        self.feed(second, "@gpus=2 echo $BERTH_GPUS")
        self.line_with(second, "GPU 1 is in use", second.stderr)
        self.assertEqual(self.finish_lines("0", ["echo free"])[0], "free\n")
        self.gate.let()
        self.assertEqual(self.finish(second)[0], "0,1\n")
        self.finish(first)

    def test_kill_9_frees_when_the_job_is_gone(self):
        first, _ = self.hold(job="trap 'echo asked > told' TERM; echo started > told; "
                                 "while ! read x < gate; do :; done; echo > ended")
        second = self.launch(gpus="0")
        self.feed(second, "test -e ended && echo after")
        self.line_with(second, "in use by another berth", second.stderr)
        first.send_signal(signal.SIGKILL)
        self.assertEqual(self.told.line(), "asked")
        self.assertIsNone(second.poll())
        self.gate.let()
        self.assertEqual(self.finish(second)[0], "after\n")

    def test_homes_with_simulated_devices_do_not_meet(self):
        first, _ = self.hold(gpus="sim:1")
        os.mkdir(self.path("home2"))
        env = self.environment(BERTH_HOME=self.path("home2"))
        done = self.run_jobs("echo $BERTH_GPUS\n", gpus="sim:1", env=env)
        self.assertEqual(done.stdout, "0\n")
        self.gate.let()
        self.finish(first)

    def test_a_run_inside_a_job_has_the_jobs_device(self):
        outer = self.launch(gpus="0", env=self.environment(B=BERTH))
        self.feed(outer, "echo 'echo inner on $BERTH_GPUS > told; read x < gate' | $B run -q")
        self.assertEqual(self.told.line(), "inner on 0")
        other = self.launch(gpus="0")
        self.feed(other, "echo other")
        self.line_with(other, "in use by another berth", other.stderr)
        self.gate.let()
        self.assertEqual(self.finish(other)[0], "other\n")
        self.finish(outer)

    def test_all_names_of_a_device_are_one_lock(self):
        """A driver's UUID, its number, and an id that simple_gpu_scheduler takes on trust."""
        self.env["BERTH_SIM_STATE"] = self.path("devices")
        self.berth("gpus", "--gpus", "sim:2")
        self.env["LD_LIBRARY_PATH"] = BUILD + "/fake_nvml"
        first, _ = self.hold(gpus="auto")
        uuid = json.loads(self.berth("gpus", "--json").stdout)["gpus"][0]["uuid"]
        for program, gpu in (((BERTH, "run"), uuid), ((BERTH, "simple_gpu_scheduler"), "0")):
            second = self.launch(gpus=gpu, program=program)
            self.feed(second, "echo second")
            self.line_with(second, "in use by another berth", second.stderr)
            second.kill()
        # One of a slot of two; and GPUs of one model count the same in every order.
        env = self.environment(CUDA_DEVICE_ORDER="FASTEST_FIRST")
        third = self.launch("1", gpus="1,0", program=(BERTH, "simple_gpu_scheduler"), env=env)
        self.fifo("other")
        self.feed(third, "echo [$CUDA_VISIBLE_DEVICES]; read x < other")
        self.assertIn("on gpu 1\n", self.line_with(third, "["))
        self.feed(third, "echo [$CUDA_VISIBLE_DEVICES]")
        self.line_with(third, "GPU 1,0 is in use by another berth", third.stderr)
        third.kill()
        self.berth("simset", "1", "model=Faster")
        fourth = self.run_jobs("true\n", gpus="0", program=(BERTH, "simple_gpu_scheduler"), env=env)
        self.assertEqual(fourth.stderr.count("CUDA_DEVICE_ORDER is not PCI_BUS_ID"), 1)
        self.gate.let()
        self.finish(first)

    def test_a_folder_that_cannot_be_used(self):
        self.write("file", "")
        done = self.run_jobs("true\n", gpus="0", code=1,
                             env=self.environment(BERTH_LOCKS=self.path("file")))
        self.assertIn("in the way of the device locks", done.stderr)


if __name__ == "__main__":
    unittest.main()
