"""POST /v1/whatif: a simulation in a process of its own."""
import os
import signal
import unittest

from http_case import HttpCase

SLEEPS = "whatif.begin=stop"


class WhatifHttp(HttpCase):
    devices = "sim:2"

    def queue(self):
        self.berth("daemon", "pause")
        self.submit("true", "true", "true", expected_s=60)

    def ask_whatif(self, **wanted):
        return self.ask("POST", "/v1/whatif", wanted)

    def child(self):
        """The process of the simulation, when it has stopped itself."""
        for pid in self.marked():
            if "whatif" in self.proc(pid, "cmdline") and "T (stopped)" in self.proc(pid, "status"):
                return pid
        return None

    def test_the_queue(self):
        self.start_daemon()
        reply = self.ask_whatif(policies=["fifo"])
        self.assertEqual((reply.status, reply.json()["error"]["message"]), (409, "no job runs or waits"))
        self.queue()
        results = self.ask_whatif(policies=["fifo", "sjf"], queue=True, gpus="").json()["results"]
        self.assertEqual([result["policy"] for result in results], ["fifo", "sjf"])
        spans = results[0]["spans"]
        self.assertEqual(sorted(span["job"] for span in spans), [1, 2, 3])
        self.assertEqual(sorted(name for span in spans for name in span["gpus"]), ["0", "0", "1"])
        first = min(span["from"] for span in spans)
        self.assertEqual([round(span["to"] - first) for span in spans], [60, 60, 120])
        self.assertGreaterEqual(first, self.get("/v1/jobs/1")["submitted"])
        alone = self.ask_whatif(policies=["fifo"], gpus="1").json()["results"][0]
        self.assertAlmostEqual(alone["makespan_s"], 180, delta=0.1)

    def test_what_is_refused(self):
        self.start_daemon()
        self.queue()
        for wanted in ({"policies": ["none"]}, {"policies": ["../x"]}, {"policies": "fifo"},
                       {"gpus": "/etc/gpus.csv"}, {"gpus": "x.csv"}, {"gpus": "x"}, {"queue": 1},
                       {"policy": "fifo"}):
            self.assertEqual(self.ask_whatif(**wanted).status, 400, wanted)

    def test_one_at_a_time_and_it_ends_with_its_client(self):
        self.start_daemon(failpoints=SLEEPS)
        self.queue()
        connection = self.unix()
        connection.request("POST", "/v1/whatif", body='{"policies":["fifo"]}')
        process = self.watch(self.eventually(self.child))
        self.assertEqual(self.ask_whatif().status, 409)
        self.assertEqual(len(self.get("/v1/jobs")["jobs"]), 3)  # others are served meanwhile
        connection.close()
        self.gone(process)
        # The next one is let in, and goes through when it is let go on.
        connection = self.unix()
        connection.request("POST", "/v1/whatif", body='{"policies":["fifo"]}')
        os.kill(self.eventually(self.child), signal.SIGCONT)
        self.assertEqual(connection.getresponse().status, 200)

    def test_the_past_has_its_energy(self):
        self.start_daemon()
        self.submit("true", "true")
        self.berth("wait")
        results = self.ask_whatif(policies=["fifo"], queue=False).json()["results"]
        self.assertEqual([result["policy"] for result in results], ["recorded", "fifo"])
        self.assertEqual(sorted(span["job"] for span in results[0]["spans"]), [1, 2])


if __name__ == "__main__":
    unittest.main()
