"""What berth run sees of the devices: peaks of its jobs, strangers, and devices that are lost."""

import json
import os
import signal
import unittest

from run_case import BERTH, GIB, RunCase, events, of_kind


class TelemetryCase(RunCase):
    def setUp(self):
        super().setUp()
        self.env["BERTH_SIM_STATE"] = self.path("devices")
        self.env["B"] = BERTH

    def stranger(self, device, memory, gpus="sim:2"):
        """A process on a device that berth has not started."""
        process = self.start("simjob", "--gpus", gpus, "--gpu", device, "--mem", memory, "--hold",
                             "1h")
        process.pending = {process.stdout: b"", process.stderr: b""}
        self.line(process)
        return process

    def start_event(self, process):
        return json.loads(self.line_with(process, '"event":"start"'))


class Peaks(TelemetryCase):
    def test_in_the_end_events(self):
        # Long enough to be seen by a reading or two, which come every second.
        stream = self.run_events(["$B simjob --mem 3GiB --hold 2500ms",
                                  "@gpus=2 $B simjob --mem 2GiB --hold 2500ms", "true"],
                                 gpus="sim:3")
        peaks = {e["job"]: e["peak_memory_bytes"] for e in of_kind(stream, "end")}
        self.assertEqual(peaks, {1: 3 * GIB, 2: 2 * GIB, 3: None})
        totals = sorted(gpu["peak_memory_bytes"] for gpu in stream[-1]["gpus"])
        self.assertEqual(totals, [2 * GIB, 2 * GIB, 3 * GIB])
        self.assertTrue(all(gpu["energy_j"] > 0 for gpu in stream[-1]["gpus"]))

    def test_two_on_one_device_are_told_apart(self):
        stream = self.run_events(["@mem=6GiB $B simjob --mem 5GiB --hold 2500ms",
                                  "@mem=9GiB sh -c '$B simjob --mem 7GiB --hold 2500ms; true'"],
                                 gpus="sim:1")
        self.assertEqual({e["job"]: e["peak_memory_bytes"] for e in of_kind(stream, "end")},
                         {1: 5 * GIB, 2: 7 * GIB})
        self.assertEqual(stream[-1]["gpus"][0]["peak_memory_bytes"], 12 * GIB)


class Strangers(TelemetryCase):
    def test_jobs_without_a_claim_stay_off_until_they_go(self):
        stranger = self.stranger("0", "20GiB")
        gate = self.fifo("gate")
        process = self.launch("--json")
        self.feed(process, "read x < gate", "true", "true")
        self.assertEqual(self.start_event(process)["gpus"], ["1"])
        stranger.send_signal(signal.SIGTERM)
        # Job 1 still has the other device: these can only start where the stranger was.
        self.assertEqual([self.start_event(process)["gpus"] for _ in range(2)], [["0"], ["0"]])
        gate.let()
        self.finish(process)

    def test_a_claim_that_fits_goes_beside_them(self):
        self.stranger("0", "8GiB", gpus="sim:1")
        stream = self.run_events(["@mem=8GiB true"], gpus="sim:1")
        self.assertEqual(of_kind(stream, "start")[0]["gpus"], ["0"])

    def test_one_that_comes_later_is_seen(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--json")
        # Both devices are busy while the stranger comes to device 1.
        self.feed(process, *["echo $BERTH_GPUS > told; read x < gate; $B simjob --mem 1GiB "
                             "--hold 2500ms; read x < gate"] * 2)
        self.assertEqual(sorted(told.lines(2)), ["0", "1"])
        self.stranger("1", "20GiB")
        gate.let(4)
        first = [self.line_with(process, '"event":"end"') for _ in range(2)]
        self.assertEqual(len(first), 2)
        self.feed(process, "true", "true", "true")
        starts = [self.start_event(process)["gpus"] for _ in range(3)]
        self.assertEqual(starts, [["0"]] * 3)
        self.finish(process)


class Lost(TelemetryCase):
    def test_at_the_start(self):
        self.berth("simset", "--gpus", "sim:2", "0", "lost=1")
        stream = self.run_events(["true"] * 3)
        self.assertEqual({tuple(e["gpus"]) for e in of_kind(stream, "start")}, {("1",)})
        self.assertIn("GPU 0 is lost", of_kind(stream, "warning")[0]["text"])

    def test_in_the_middle_the_others_go_on(self):
        told, gate = self.fifo("told"), self.fifo("gate")
        process = self.launch("--json", gpus="sim:3")
        self.feed(process, *["echo $BERTH_GPUS > told; read x < gate"] * 3)
        self.assertEqual(sorted(told.lines(3)), ["0", "1", "2"])
        self.berth("simset", "--gpus", "sim:3", "1", "lost=1")
        warning = json.loads(self.line_with(process, '"event":"warning"'))
        self.assertIn("GPU 1 is lost", warning["text"])
        gate.let(3)
        self.feed(process, *["echo $BERTH_GPUS > told"] * 6)
        self.assertLessEqual(set(told.lines(6)), {"0", "2"})
        self.berth("simset", "--gpus", "sim:3", "1", "lost=0")
        self.assertIn("GPU 1 is back", self.line_with(process, '"event":"warning"'))
        self.feed(process, *["echo $BERTH_GPUS > told; read x < gate"] * 3)
        self.assertEqual(sorted(told.lines(3)), ["0", "1", "2"])
        gate.let(3)
        out, _ = self.finish(process)
        self.assertEqual(events(out)[-1]["succeeded"], 12)


class Driver(TelemetryCase):
    """The same through NVIDIA's interface."""

    def test_a_run(self):
        self.berth("gpus", "--gpus", "sim:2")
        env = self.environment(LD_LIBRARY_PATH=os.environ["BERTH_BUILD_DIR"] + "/fake_nvml")
        stream = self.run_events(["env -u LD_LIBRARY_PATH $B simjob --mem 3GiB --hold 2500ms"],
                                 gpus="auto", env=env)
        self.assertEqual(of_kind(stream, "end")[0]["peak_memory_bytes"], 3 * GIB)


if __name__ == "__main__":
    unittest.main()
