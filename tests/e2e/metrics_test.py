"""GET /metrics: the text format of Prometheus, to the letter."""

import re
import shutil
import subprocess
import unittest

from daemon_case import DEADLINE
from http_case import HttpCase

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|\Z)')
# What a name may end in by its unit: base units only (https://prometheus.io/docs/practices/naming).
UNITS = ("_bytes", "_seconds", "_ratio", "_watts", "_joules", "_celsius")
FORBIDDEN = ("_mb", "_kb", "_gb", "_mib", "_ms", "_milliseconds", "_percent", "_minutes", "_w", "_c")
COUNTS = {"berth_jobs", "berth_scheduler_paused", "berth_event_listeners", "berth_device_up",
          "berth_device_leases", "berth_connections", "berth_event_streams"}


class Malformed(Exception):
    pass


def parse(text):
    """{name: {labels: value}}; raises at the first thing that is not as it must be."""
    if not text.endswith("\n"):
        raise Malformed("the last line does not end")
    families, current, help_of = {}, None, None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            _, _, name, words = line.split(" ", 3)
            if name in families or not NAME.match(name) or not words.strip():
                raise Malformed(line)
            help_of, current = name, None
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if help_of != name or name in families or kind not in ("counter", "gauge"):
                raise Malformed(line)
            if (kind == "counter") != name.endswith("_total"):
                raise Malformed(f"{name} is a {kind}")
            families[name], current = {}, name
        else:
            sample = SAMPLE.match(line)
            if not sample or sample["name"] != current:
                raise Malformed(line)
            labels = tuple(LABEL.findall(sample["labels"] or ""))
            whole = ",".join(f'{key}="{value}"' for key, value in labels)
            if whole != (sample["labels"] or "") or len(dict(labels)) != len(labels):
                raise Malformed(line)
            if labels in families[current]:
                raise Malformed(f"twice: {line}")
            families[current][labels] = float(sample["value"])
    return families


class Parser(unittest.TestCase):
    def test_it_takes_what_is_right_and_nothing_else(self):
        head = "# HELP a_bytes x\n# TYPE a_bytes gauge\n"
        self.assertEqual(parse(head + 'a_bytes{b="c\\"d"} 1.5e+09\n'),
                         {"a_bytes": {(("b", 'c\\"d'),): 1.5e9}})
        for wrong in ("a_bytes 1\n", head + "a_bytes 1", head + "b_bytes 1\n", head + "\n",
                      head + head, head + "a_bytes 1\na_bytes 2\n", head + 'a_bytes{b="\\x"} 1\n',
                      head + 'a_bytes{b="c} 1\n', head + "a_bytes x\n", head + "a_bytes{b=c} 1\n",
                      "# TYPE a_bytes gauge\na_bytes 1\n", "# HELP a_total x\n# TYPE a_total gauge\n"):
            with self.assertRaises((Malformed, ValueError), msg=wrong):
                parse(wrong)


class Metrics(HttpCase):
    def metrics(self):
        reply = self.ask("GET", "/metrics")
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        return parse(reply.body.decode("utf-8"))

    def check_with_promtool(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed (Debian: prometheus); all else was checked")
        done = subprocess.run(["promtool", "check", "metrics"], text=True, capture_output=True,
                              input=self.ask("GET", "/metrics").body.decode(), timeout=DEADLINE,
                              check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_names_and_units(self):
        self.start_daemon()
        for name in self.metrics():
            with self.subTest(name):
                self.assertTrue(name.startswith("berth_"))
                self.assertFalse(name.endswith(FORBIDDEN))
                self.assertTrue(name.endswith(("_total", *UNITS)) or name in COUNTS)

    def test_the_numbers_are_right(self):
        self.start_daemon()
        self.make_gates("gate", "up")
        self.submit("exit 0", "exit 1", "exit 1")
        self.get("/v1/wait")
        self.submit("echo > up; read x < gate")
        self.hear("up")
        self.submit("true", held=True)
        self.post("/v1/devices/drain?names=1")
        self.post("/v1/daemon/pause")
        metrics = self.metrics()
        label = lambda key, value: ((key, value),)
        jobs = {labels[0][1]: value for labels, value in metrics["berth_jobs"].items()}
        self.assertEqual({state: count for state, count in jobs.items() if count},
                         {"succeeded": 1, "failed": 2, "held": 1, "running": 1})
        self.assertEqual(jobs, self.get("/v1/status")["jobs"])
        self.assertEqual(metrics["berth_attempts_started_total"][()], 4)
        self.assertEqual(metrics["berth_jobs_ended_total"][label("outcome", "failed")], 2)
        self.assertEqual(metrics["berth_scheduler_paused"][()], 1)
        device = lambda name: (("device", name), ("slot", name))
        self.assertEqual(metrics["berth_device_up"], {device("0"): 1, device("1"): 0})
        self.assertEqual(sum(metrics["berth_device_leases"].values()), 1)
        memory = {one["name"]: one["memory_bytes"] for one in self.get("/v1/devices")["devices"]}
        self.assertEqual(metrics["berth_device_memory_bytes"],
                         {device(name): size for name, size in memory.items()})
        self.assertGreater(metrics["berth_resident_memory_bytes"][()], 1e6)
        self.check_with_promtool()

    def test_large_numbers_stay_exact(self):
        """A device of 24 GiB has no 2.57698e+10 bytes."""
        self.devices = "sim:1x24GiB"
        self.start_daemon()
        self.assertEqual(list(self.metrics()["berth_device_memory_bytes"].values()), [24 * 2**30])

    def test_devices_that_come_and_go(self):
        self.start_daemon()
        self.post("/v1/devices/remove?names=0")
        self.assertEqual(list(self.metrics()["berth_device_up"]), [(("device", "1"), ("slot", "1"))])
        self.post("/v1/devices/add?names=0")
        self.post("/v1/devices/add?names=trust:7")
        self.assertEqual(len(self.metrics()["berth_device_up"]), 3)
        self.check_with_promtool()

    def test_devices_that_share_a_name_and_tell_little(self):
        self.devices = "0,1,1"
        self.start_daemon()
        self.assertEqual(len(self.metrics()["berth_device_up"]), 3)
        self.assertEqual(self.metrics()["berth_device_memory_used_bytes"], {})
        self.check_with_promtool()


if __name__ == "__main__":
    unittest.main()
