"""berth daemon log: what the daemon decided about strangers and itself, also when it is down."""

import json
import os
import select
import signal
import subprocess
import time
import unittest

from daemon_case import BERTH
from http_case import HttpCase


class DaemonLog(HttpCase):
    def log(self, *words):
        return self.berth("daemon", "log", *words)

    def test_starts_and_stops_are_there_when_the_daemon_is_not(self):
        self.start_daemon()
        self.stop_daemon()
        text = self.log()
        self.assertIn("has started as process", text)
        self.assertIn("has stopped", text.splitlines()[-1])
        self.assertEqual(len(self.log("-n", "1").splitlines()), 1)
        for line in self.log("--json").splitlines():
            told = json.loads(line)
            self.assertEqual(list(told), ["version", "time", "text"])
            self.assertGreater(told["time"], 1_000_000_000)
        self.assertIn("has started", json.loads(self.log("--json").splitlines()[0])["text"])

    def test_without_a_log_it_says_so(self):
        done = self.try_berth("daemon", "log")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("daemon.log", done.stderr)

    def test_who_has_no_token_is_told_of_once(self):
        self.start_daemon(words=["--listen", "127.0.0.1:0"])
        for i in range(100):
            target = "/v1/status" if i % 2 else "/v1/jobs"
            self.assertEqual(self.ask("GET", target, connection=self.tcp()).status, 401)
        lines = [line for line in self.log("-n", "1000").splitlines() if "over TCP" in line]
        self.assertTrue(1 <= len(lines) <= 8, lines)

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_who_was_refused_what(self):
        self.start_daemon(words=["--everyone"])
        self.submit("true", held=True)
        for method, target, words in (
                ("POST", "/v1/daemon/stop", "user 65534 was refused POST /v1/daemon/stop"),
                ("POST", "/v1/jobs/kill?select=1", "user 65534 was refused to kill jobs of others"),
                ("GET", "/v1/jobs/1/log", "to read the output of jobs of others")):
            self.assertEqual(self.ask(method, target, connection=self.as_nobody()).status, 409)
            self.assertIn(words, self.log())

    def test_devices_are_there(self):
        self.start_daemon()
        self.post("/v1/devices/drain?names=1")
        self.assertIn("device 1 is drained", self.log())

    def test_what_comes_is_printed(self):
        self.start_daemon()
        reader = subprocess.Popen([BERTH, "daemon", "log", "-f", "-n", "0"], env=self.env,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, reader)
        # Nobody says when it has begun to watch: something new until it is heard. The daemon's own
        # start may come first.
        def is_heard():
            self.post("/v1/devices/drain?names=0")
            self.post("/v1/devices/undrain?names=0")
            return "device 0 is" in self.read_line_within(reader.stdout, 0.2)
        self.eventually(is_heard)

    def read_line_within(self, file, seconds):
        return file.readline() if select.select([file], [], [], seconds)[0] else ""

    def test_a_slow_turn_is_there_with_what_it_did(self):
        daemon = self.start_daemon(failpoints="daemon.before_commit=stop*1")
        asked = self.raw_unix()
        asked.sendall(b"POST /v1/daemon/pause HTTP/1.1\r\n\r\n")
        self.eventually(lambda: "\nState:\tT" in self.proc(daemon.pid, "status"))
        end = time.monotonic() + 1.1  # the turn must have taken that long
        self.eventually(lambda: time.monotonic() > end)
        os.kill(daemon.pid, signal.SIGCONT)
        self.assertIn(b"200", asked.recv(1000))
        self.eventually(lambda: "a turn took " in self.log())
        told = self.get("/v1/status")["load"]
        self.assertGreaterEqual(told["slow_turns"], 1)
        self.assertGreaterEqual(told["longest_turn_s"], 1)
        self.assertGreaterEqual(told["longest_turn_lately_s"], 1)
        self.assertIn("POST /v1/daemon/pause", told["longest_turn"])
        self.assertIn("took more than a second", self.berth("daemon", "status"))
        metrics = self.ask("GET", "/metrics").body
        self.assertNotIn(b"\nberth_turns_slow_total 0\n", metrics)


if __name__ == "__main__":
    unittest.main()
