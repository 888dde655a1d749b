"""berth gpus: devices of all kinds as people and programs see them."""

import json
import os
import pty
import signal
import struct
import subprocess
import termios
import unittest
from fcntl import ioctl

from gpu_case import BERTH, BUILD, DEADLINE, GIB, GpuCase

FIELDS = ["name", "family", "model", "uuid", "pci_bus", "numa", "island", "state",
          "memory_total_bytes", "memory_used_bytes", "utilization_percent", "power_watts",
          "power_limit_watts", "energy_joules", "temperature_celsius", "last_xid", "processes"]


class SimulatedGpus(GpuCase):
    def gpus(self, *words, **options):
        document = json.loads(self.berth("gpus", "--json", *words, **options).stdout)
        self.assertEqual(document["version"], 1)
        return document["gpus"]

    def test_json_has_every_field(self):
        gpus = self.gpus("--gpus", "sim:2x16GiB")
        self.assertEqual(len(gpus), 2)
        for gpu in gpus:
            self.assertEqual(list(gpu), FIELDS)
        self.assertEqual(gpus[1]["name"], "1")
        self.assertEqual(gpus[1]["memory_total_bytes"], 16 * GIB)
        self.assertEqual(gpus[1]["family"], "simulated")
        self.assertIsNone(gpus[1]["last_xid"])

    def test_default_is_the_variable(self):
        self.assertEqual(len(self.gpus(env=self.environment(BERTH_GPUS="sim:3"))), 3)

    def test_unknown_is_null(self):
        gpu = self.gpus("--gpus", "7")[0]
        self.assertEqual(gpu["family"], "trusted")
        for field in FIELDS[2:5] + FIELDS[8:16]:
            self.assertIsNone(gpu[field], field)
        self.berth("simset", "--gpus", "sim:1", "0", "unsupported=power,util")
        gpu = self.gpus("--gpus", "sim:1")[0]
        self.assertIsNone(gpu["power_watts"])
        self.assertIsNone(gpu["utilization_percent"])
        self.assertIsNotNone(gpu["energy_joules"])

    def test_table_and_processes(self):
        job = self.start("simjob", "--gpus", "sim:2", "--gpu", "1", "--mem", "6GiB", "--hold", "1h",
                         "--util", "80", "--power", "250")
        self.line(job)
        text = self.berth("gpus", "--gpus", "sim:2", "--processes").stdout
        self.assertIn("6.0 GiB of 24.0 GiB", text)
        self.assertIn("250 / 350 W", text)
        self.assertIn("80 %", text)
        self.assertRegex(text, rf"1 +{job.pid} +\S+ +6.0 GiB +\S*berth simjob")
        self.assertNotIn("\x1b", text)
        process = self.gpus("--gpus", "sim:2")[1]["processes"][0]
        self.assertEqual(process["pid"], job.pid)
        self.assertEqual(process["memory_bytes"], 6 * GIB)
        self.assertIn("simjob", process["command"])

    def test_lost_device(self):
        self.berth("simset", "--gpus", "sim:2", "1", "lost=1")
        self.assertIn("lost", self.berth("gpus", "--gpus", "sim:2").stdout)
        self.assertEqual([g["state"] for g in self.gpus("--gpus", "sim:2")], ["ok", "lost"])

    def test_errors_say_what_to_type(self):
        self.assertIn("--gpus sim:4", self.berth("gpus", code=2).stderr)
        self.assertIn("--gpus auto", self.berth("gpus", "--gpus", ",", code=2).stderr)
        self.assertIn("sim:4x24GiB", self.berth("gpus", "--gpus", "sim:0", code=2).stderr)
        self.assertEqual(self.berth("gpus", code=2).stdout, "")
        self.berth("gpus", "--gpus", "sim:1", "--watch=1ms", code=2)

    def test_a_full_output_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BERTH, "gpus", "--gpus", "sim:1"], env=self.env, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 1)


class Watch(GpuCase):
    def test_appends_documents_and_ends_on_interrupt(self):
        watch = self.start("gpus", "--gpus", "sim:1", "--json", "--watch=50ms")
        for _ in range(3):
            self.assertEqual(json.loads(self.line(watch))["version"], 1)
        watch.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(DEADLINE), 0)

    def watch_in_terminal(self, columns, **env):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(BERTH, [BERTH, "gpus", "--gpus", "sim:1", "--watch=50ms"],
                      self.environment(TERM="xterm", **env))
        self.addCleanup(os.close, terminal)
        ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.read_until(terminal, b"\x1b[J")
        text = self.read_until(terminal, b"\x1b[J")  # a whole one, in the new width
        os.write(terminal, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        return text.decode()

    def test_redraws_in_place_on_a_terminal(self):
        text = self.watch_in_terminal(120)
        self.assertIn("\x1b[H", text)
        self.assertIn("\x1b[1mGPU\x1b[0m", text)
        self.assertIn("Simulated GPU", text)

    def test_no_colour_when_asked(self):
        self.assertNotIn("\x1b[1m", self.watch_in_terminal(120, NO_COLOR="1"))

    def test_fits_a_narrow_terminal(self):
        text = self.watch_in_terminal(70, NO_COLOR="1").replace("\x1b[H", "").replace("\x1b[J", "")
        for line in text.replace("\x1b[K", "").splitlines():
            self.assertLessEqual(len(line), 70, line)


class DriverLibrary(GpuCase):
    """NVIDIA's path: all that is needed is a library with that interface on the loader's path."""

    def setUp(self):
        super().setUp()
        self.state = self.home + "/devices"
        self.env["BERTH_SIM_STATE"] = self.state
        self.berth("gpus", "--gpus", "sim:4")
        self.nvidia = self.environment(LD_LIBRARY_PATH=BUILD + "/fake_nvml")

    def gpus(self, *words, **env):
        document = self.berth("gpus", "--json", *words, env=dict(self.nvidia, **env)).stdout
        return json.loads(document)["gpus"]

    def test_auto_lists_them(self):
        gpus = self.gpus()
        self.assertEqual([g["name"] for g in gpus], ["0", "1", "2", "3"])
        self.assertEqual(gpus[0]["family"], "nvidia")
        self.assertTrue(gpus[0]["uuid"].startswith("GPU-"))

    def test_older_libraries_work(self):
        for variant in ("fake_nvml_old", "fake_nvml_bare"):
            self.assertEqual(len(self.gpus(LD_LIBRARY_PATH=f"{BUILD}/{variant}")), 4)

    def test_jobs_are_seen_by_uuid(self):
        uuid = self.gpus()[2]["uuid"]
        job = self.start("simjob", "--mem", "5GiB", "--hold", "1h",
                         env=self.environment(CUDA_VISIBLE_DEVICES=uuid))
        self.line(job)
        gpus = self.gpus()
        self.assertEqual([g["memory_used_bytes"] for g in gpus], [0, 0, 5 * GIB, 0])
        self.assertEqual(gpus[2]["processes"][0]["pid"], job.pid)

    def test_a_mask_limits_auto(self):
        names = [g["name"] for g in self.gpus(CUDA_VISIBLE_DEVICES="3,1,77,0")]
        self.assertEqual(names, ["3", "1"])
        names = [g["name"] for g in self.gpus("--gpus", "all", CUDA_VISIBLE_DEVICES="3")]
        self.assertEqual(names, ["0", "1", "2", "3"])
        hidden = self.berth("gpus", env=dict(self.nvidia, CUDA_VISIBLE_DEVICES=""), code=2)
        self.assertIn("CUDA_VISIBLE_DEVICES", hidden.stderr)

    def test_ids_must_exist_and_may_repeat(self):
        uuid = self.gpus()[3]["uuid"]
        names = [g["name"] for g in self.gpus("--gpus", f"1,1 {uuid[:12]}")]
        self.assertEqual(names, ["1", "1", "3"])
        unknown = self.berth("gpus", "--gpus", "0,9", env=self.nvidia, code=2).stderr
        self.assertIn("'9'", unknown)
        self.assertIn(uuid, unknown)

    def test_mig_slices(self):
        self.berth("simset", "0", "mig=2")
        gpus = self.gpus()
        self.assertEqual([g["name"] for g in gpus], ["0:0", "0:1", "1", "2", "3"])
        job = self.start("simjob", "--mem", "13GiB",
                         env=self.environment(CUDA_VISIBLE_DEVICES=gpus[1]["uuid"]))
        self.assertIn("12.00 GiB total capacity", job.communicate(timeout=DEADLINE)[1])

    def test_lost_and_unsupported(self):
        self.berth("simset", "1", "lost=1")
        self.berth("simset", "2", "unsupported=memory,processes,temperature")
        gpus = self.gpus()
        self.assertEqual([g["state"] for g in gpus], ["ok", "lost", "ok", "ok"])
        self.assertIsNone(gpus[2]["memory_used_bytes"])
        self.assertIsNone(gpus[2]["temperature_celsius"])
        self.assertIsNotNone(gpus[2]["power_watts"])


if __name__ == "__main__":
    unittest.main()
