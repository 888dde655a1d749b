"""`berth record`, and `--record` and `--gantt` of `berth run`: nvidia-smi's columns, pages, charts."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import unittest
import zlib

from run_case import BERTH, DEADLINE, RunCase

# Two lines as `nvidia-smi --query-gpu=... --format=csv -l 1` prints them.
SAMPLE = """\
index, timestamp, name, utilization.gpu [%], utilization.memory [%], power.draw [W]
0, 2024/11/20 14:03:22.123, Tesla P100-PCIE-12GB, 0 %, 0 %, 24.53 W
1, 2024/11/20 14:03:22.127, Tesla P100-PCIE-12GB, 97 %, 41 %, 131.70 W
"""


def parse(text):
    """As pandas.read_csv(FILE, skipinitialspace=True) and the usual .str.rstrip(" %W") do."""
    rows = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
    for row in rows:
        row["index"] = int(row["index"])
        for column, unit in (("utilization.gpu [%]", " %"), ("utilization.memory [%]", " %"),
                             ("power.draw [W]", " W")):
            assert row[column].endswith(unit), row
            row[column] = float(row[column].removesuffix(unit))
        assert re.fullmatch(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}", row["timestamp"]), row
    return rows


class RecordCase(RunCase):
    def setUp(self):
        super().setUp()
        self.env["BERTH_SIM_STATE"] = self.path("devices")
        self.env["B"] = BERTH

    def record(self, *words, code=0):
        done = subprocess.run([BERTH, "record", "--gpus", "sim:2", *words], env=self.env,
                              cwd=self.home, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def read(self, name):
        with open(os.path.join(self.home, name), encoding="utf-8") as file:
            return file.read()

    def check_png(self, name):
        with open(os.path.join(self.home, name), "rb") as file:
            data = file.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        body = data[data.index(b"IDAT") + 4:]
        self.assertGreater(len(zlib.decompressobj().decompress(body)), 10000)


class Columns(RecordCase):
    def test_are_those_of_nvidia_smi(self):
        self.record("--csv", "use.csv", "--interval", "100ms", "--no-report", "--", BERTH, "simjob",
                    "--gpu", "1", "--power", "130", "--hold", "1s", "--mem", "1GiB")
        text = self.read("use.csv")
        real, ours = parse(SAMPLE), parse(text)
        self.assertEqual(text.split("\n")[0], SAMPLE.split("\n")[0])
        self.assertEqual(list(real[0]), list(ours[0]))
        self.assertEqual({row["index"] for row in ours}, {0, 1})
        self.assertEqual(max(r["power.draw [W]"] for r in ours if r["index"] == 1), 130)
        self.assertEqual(max(r["utilization.gpu [%]"] for r in ours if r["index"] == 1), 100)
        self.assertEqual(max(r["utilization.gpu [%]"] for r in ours if r["index"] == 0), 0)

    def test_go_to_standard_output_until_interrupted(self):
        process = subprocess.Popen([BERTH, "record", "--gpus", "sim:3", "--interval", "50ms",
                                    "--report", "page.html"], env=self.env, cwd=self.home,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [process.stdout.readline() for _ in range(10)]
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual([row["index"] for row in parse("".join(lines) + rest)][:9], [0, 1, 2] * 3)
        self.assertIn("use in percent", self.read("page.html"))


class Commands(RecordCase):
    def test_have_their_exit_code_and_their_streams(self):
        done = self.record("-q", "--", "sh", "-c", "echo out; echo err >&2; exit 7", code=7)
        self.assertEqual((done.stdout, done.stderr), ("out\n", "err\n"))
        names = sorted(os.path.splitext(name)[1] for name in os.listdir(self.home)
                       if name.startswith("record-"))
        self.assertEqual(names, [".csv", ".html"])
        self.record("-q", "--", "kill -KILL $$", code=137)
        self.assertIn("cannot run 'no-such-program'",
                      self.record("--", "no-such-program", "x", code=1).stderr)

    def test_get_the_signals_that_are_sent_to_us(self):
        process = subprocess.Popen(
            [BERTH, "record", "--gpus", "sim:1", "-q", "--", "sh", "-c",
             "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done"],
            env=self.env, cwd=self.home, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=DEADLINE)
        self.assertEqual((out, process.returncode), ("asked\n", 3))

    def test_are_refused_where_nothing_can_be_read(self):
        done = subprocess.run([BERTH, "record", "--gpus", "trust:0", "--", "true"], env=self.env,
                              cwd=self.home, capture_output=True, text=True, timeout=DEADLINE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nothing to record", done.stderr)


class Totals(RecordCase):
    def test_energy_is_that_of_the_jobs(self):
        """A job of 300 W, beside devices that idle at 25 W: what the device counts is what the
        readings say, and the job's part of it is its power for its time."""
        done = self.record("--csv", "use.csv", "--interval", "20ms", "--json", "--report", "p.html",
                           "--charts", "c.svg", "--", BERTH, "simjob", "--gpu", "0", "--power",
                           "300", "--hold", "2s", "--mem", "1GiB")
        totals = json.loads(done.stdout.splitlines()[-1])
        first, second = totals["devices"]
        self.assertAlmostEqual(second["energy_j"], 25 * totals["seconds"],
                               delta=0.01 * 25 * totals["seconds"])
        (span,) = totals["spans"]
        self.assertEqual(span["gpu"], "0")
        self.assertIn("simjob", span["name"])
        held = (first["energy_j"] - 25 * totals["seconds"]) / (300 - 25)
        self.assertAlmostEqual(held, span["to_s"] - span["from_s"], delta=0.1)
        self.assertTrue(first["energy_counted"])
        self.assertAlmostEqual(first["mean_power_w"] * totals["seconds"], first["energy_j"],
                               delta=0.05 * first["energy_j"])
        for chart in ("usage", "power", "energy", "gantt"):
            self.assertIn("<svg", self.read(f"c.{chart}.svg"))
        page = self.read("p.html")
        for words in ("use in percent", "power in watts", "energy in joules", "Who ran where",
                      "GPU 1"):
            self.assertIn(words, page)
        self.assertNotIn("http://", page.replace("http://www.w3.org", ""))


class Runs(RecordCase):
    def test_are_recorded(self):
        lines = ("@name=first $B simjob --hold 1s\n@name=second $B simjob --hold 1s\n"
                 "@name=third $B simjob --hold 300ms\n")
        done = subprocess.run([BERTH, "run", "--gpus", "sim:2", "--record", "r.csv", "--record",
                               "r.html", "--gantt", "g.png"], env=self.env, cwd=self.home,
                              input=lines, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(max(r["utilization.gpu [%]"] for r in parse(self.read("r.csv"))), 0)
        page = self.read("r.html")
        for name in ("first", "second", "third"):
            self.assertIn(name, page)
        self.check_png("g.png")

    def test_say_what_files_they_can_write(self):
        for words, problem in ((["--record", "x.txt"], "does not end in .csv or .html"),
                               (["--gantt", "x.gif"], "does not end in .svg or .png")):
            done = subprocess.run([BERTH, "run", "--gpus", "sim:1", *words, "--", "true"],
                                  env=self.env, capture_output=True, text=True, timeout=DEADLINE)
            self.assertEqual(done.returncode, 2)
            self.assertIn(problem, done.stderr)


if __name__ == "__main__":
    unittest.main()
