"""What the page shows beside the jobs themselves: what to choose them by, sums, devices over time."""

import os
import pwd
import unittest

from daemon_case import BERTH
from http_case import HttpCase, is_job

NAMES = ["<b>bold</b>", "🚀", "two\nlines", "a\"b'c\\d"]


class Facets(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_daemon()

    def test_none(self):
        self.assertEqual(self.get("/v1/facets"),
                         {"version": 1, "projects": [], "users": [], "labels": [], "sweeps": []})

    def test_each(self):
        self.submit(*["true"] * 3, held=True, project="p")
        self.submit("true", held=True, project="p", sweep="s", labels={"k": "v"})
        self.submit(*["true"] * 2, held=True, project="q", sweep="s", labels={"k": "v", "k2": ""})
        self.submit(*["true"] * 2, held=True, sweep="late")
        self.post("/v1/jobs/kill?select=6")
        found = self.get("/v1/facets")
        self.assertEqual(found["projects"], [{"name": "p", "jobs": 4}, {"name": "q", "jobs": 2}])
        uid = os.getuid()
        self.assertEqual(found["users"], [{"uid": uid, "name": pwd.getpwuid(uid).pw_name, "jobs": 8}])
        self.assertEqual(found["labels"], [{"key": "k", "value": "v", "jobs": 3},
                                           {"key": "k2", "value": "", "jobs": 2}])
        self.assertEqual(found["sweeps"], [
            {"name": "late", "project": "", "jobs": 2, "first": 7, "last": 8, "states": {"held": 2}},
            {"name": "s", "project": "q", "jobs": 2, "first": 5, "last": 6,
             "states": {"held": 1, "cancelled": 1}},
            {"name": "s", "project": "p", "jobs": 1, "first": 4, "last": 4, "states": {"held": 1}}])

    def test_any_names(self):
        for name in NAMES:
            self.submit("true", held=True, project=name, sweep=name, labels={name: name})
        found = self.get("/v1/facets")
        self.assertEqual({each["name"] for each in found["projects"]}, set(NAMES))
        self.assertEqual([each["name"] for each in found["sweeps"]], NAMES[::-1])
        self.assertEqual({each["key"] for each in found["labels"]}, set(NAMES))

    def test_no_more_than_anybody_can_choose_from(self):
        self.post("/v1/jobs", {"defaults": {"directory": "/", "held": True}, "jobs": [
            {"command": "true", "project": f"p{i}", "sweep": f"s{i}", "labels": {"i": str(i)}}
            for i in range(600)]})
        found = self.get("/v1/facets")
        self.assertEqual([len(found[key]) for key in ("projects", "labels", "sweeps")], [500] * 3)
        self.assertEqual(found["sweeps"][0]["name"], "s599")


class Totals(HttpCase):
    def test_sums(self):
        self.start_daemon()
        self.assertEqual(self.get("/v1/totals"), {
            "version": 1, "gpu_seconds": 0, "energy_j": 0, "started": 0,
            "ended": dict.fromkeys(("succeeded", "failed", "cancelled", "timed_out", "oom", "lost"), 0)})
        self.make_gates("gate")
        self.submit("true", "false", "false")
        self.submit("true", held=True)
        self.post("/v1/jobs/kill?select=4")
        self.get("/v1/wait?select=1-4")
        self.submit("read x < gate", gpus=2)
        listener = self.listen()
        if self.get("/v1/jobs/5")["state"] != "running":
            listener.until(is_job(5, "running"))
        found = self.get("/v1/totals")
        self.assertEqual(found["started"], 4)
        self.assertEqual([found["ended"][key] for key in ("succeeded", "failed", "cancelled")], [1, 2, 1])
        self.assertGreater(found["gpu_seconds"], 0)
        self.release("gate")
        self.get("/v1/wait")
        jobs = self.jobs()
        spent = sum(job.get("gpu_seconds", 0) for job in jobs)
        self.assertAlmostEqual(self.get("/v1/totals")["gpu_seconds"], spent, places=3)
        # Half of the last one's time.
        middle = (jobs[4]["started"] + jobs[4]["ended"]) / 2
        part = self.get(f"/v1/totals?since={middle:.9f}")
        self.assertAlmostEqual(part["gpu_seconds"], jobs[4]["gpu_seconds"] / 2, places=3)
        self.assertEqual((part["started"], part["ended"]["failed"]), (0, 1))
        self.assertEqual(self.get("/v1/totals?since=8000000000")["gpu_seconds"], 0)

    def test_wrong(self):
        self.start_daemon()
        for since in ("x", "", "-1", "nan", "inf", "1e300"):
            self.assertEqual(self.ask("GET", "/v1/totals?since=" + since).status, 400, since)


class Timeline(HttpCase):
    def spans(self, query=""):
        return self.get("/v1/timeline" + query)["spans"]

    def test_past_present_and_expected(self):
        self.start_daemon()
        self.assertEqual(self.spans(), [])
        self.make_gates("gate")
        self.submit("true", name="<b>🚀\n", project="p\"", sweep="s")
        self.get("/v1/wait")
        self.submit("read x < gate", gpus=1, expected_s=1000)
        self.eventually(lambda: self.get("/v1/jobs/2")["state"] == "running")
        self.submit("true", gpus=2, expected_s=60, name="next")
        self.submit("true", gpus=0, after=["ok:3"])
        answer = self.get("/v1/timeline")
        now = answer["now"]
        present, expected, last, past = answer["spans"]
        self.assertEqual((past["job"], past["attempt"], past["state"], past["name"], past["project"],
                          past["sweep"]), (1, 1, "succeeded", "<b>🚀\n", "p\"", "s"))
        self.assertLessEqual(past["from"], past["to"])
        self.assertEqual((present["job"], present["state"], present["gpus"]), (2, "running", past["gpus"]))
        self.assertAlmostEqual(present["to"] - present["from"], 1000, places=2)
        self.assertEqual((expected["job"], expected["state"], expected["gpus"]), (3, "expected", ["0", "1"]))
        self.assertAlmostEqual(expected["from"], present["to"], places=1)
        self.assertAlmostEqual(expected["to"] - expected["from"], 60, places=2)
        self.assertEqual((last["job"], last["gpus"]), (4, []))
        # As long as the user's first job took, or the least that is told apart.
        self.assertAlmostEqual(last["to"] - last["from"], 5, places=2)
        jobs = lambda query: [span["job"] for span in self.spans(query)]
        self.assertEqual(jobs(f"?to={past['from'] - 1}"), [])
        self.assertEqual(jobs(f"?from={past['to'] + .001}&to={now}"), [2])
        self.assertEqual(jobs(f"?from={now + 1001}&to={now + 1010}"), [3])
        cut = self.get("/v1/timeline?limit=2")
        self.assertEqual((cut["truncated"], [span["job"] for span in cut["spans"]]), (True, [2, 3]))

    def test_every_attempt_counts(self):
        self.start_daemon()
        self.submit("false", retries=2)
        self.get("/v1/wait")
        self.assertEqual([(span["job"], span["attempt"], span["state"]) for span in self.spans()],
                         [(1, 3, "failed"), (1, 2, "failed"), (1, 1, "failed")])

    def test_wrong(self):
        self.start_daemon()
        for query in ("from=x", "to=-1", "limit=many", "from="):
            self.assertEqual(self.ask("GET", "/v1/timeline?" + query).status, 400, query)


class History(HttpCase):
    def test_of_the_devices(self):
        self.start_daemon()
        found = self.eventually(lambda: (lambda f: f["devices"][0]["power_w"] and f)(
            self.get("/v1/devices/history")))
        self.assertEqual([each["name"] for each in found["devices"]], ["0", "1"])
        self.assertEqual(found["interval_s"], 2)
        lengths = {len(each[key]) for each in found["devices"] for key in each if key != "name"}
        self.assertEqual(len(lengths), 1)


class Usage(HttpCase):
    devices = "sim:2x8GiB"

    def usage(self, query=""):
        return self.get("/v1/jobs/1/usage" + query)

    def peak(self):
        return max((max(device["memory_bytes"]) for device in self.usage()["devices"]), default=0)

    def test_is_there_while_it_runs_and_after(self):
        self.start_daemon()
        self.assertEqual(self.ask("GET", "/v1/jobs/1/usage").status, 404)
        self.submit(f"{BERTH} simjob --mem 2GiB --util 70 --hold 100s", gpus=2, held=True, retries=1,
                    environment=[f"{key}={value}" for key, value in self.env.items()])
        self.assertEqual(self.usage(), {"version": 1, "attempt": 0, "times": [], "devices": []})
        self.post("/v1/jobs/release?select=1")
        self.eventually(lambda: self.peak() == 2 << 30)
        self.eventually(lambda: self.usage()["devices"][1]["utilization_percent"][-1] > 0)
        found = self.usage()
        self.assertEqual((found["attempt"], [device["name"] for device in found["devices"]]),
                         (1, ["0", "1"]))
        self.post("/v1/jobs/kill?select=1")
        self.get("/v1/wait")
        self.assertEqual(self.peak(), 2 << 30)
        self.stop_daemon()
        self.start_daemon()
        self.assertEqual(self.peak(), 2 << 30)
        self.assertEqual(self.usage("?attempt=1"), self.usage())
        self.assertEqual(os.listdir(self.home + "/usage"), ["1.1"])
        self.post("/v1/jobs/forget")
        self.assertEqual(os.listdir(self.home + "/usage"), [])

    def test_what_a_running_job_has_used_outlives_the_daemon(self):
        self.start_daemon()
        self.make_gates("up", "less")
        self.submit(f"{BERTH} simjob --mem 4GiB --util 70 --hold 100s & echo > up; read x < less; kill $!;"
                    f" exec {BERTH} simjob --mem 1GiB --hold 100s",
                    directory=self.folder,
                    environment=[f"{key}={value}" for key, value in self.env.items()])
        job = lambda: self.get("/v1/jobs/1")
        self.hear("up")
        self.eventually(lambda: job().get("energy_j", 0) > 100 and job()["peak_memory_bytes"] == 4 << 30)
        self.release("less")
        self.eventually(lambda: self.usage()["devices"][0]["memory_bytes"][-1] == 1 << 30)
        before, history = job()["energy_j"], self.get("/v1/devices/history")["from"]
        self.stop_daemon()
        self.start_daemon()
        self.eventually(lambda: job().get("energy_j", 0) > 0)
        self.assertGreater(job()["energy_j"], before - 0.001)  # it is kept to the millijoule
        self.assertEqual(job()["peak_memory_bytes"], 4 << 30)
        self.assertEqual(self.get("/v1/devices/history")["from"], history)

    def test_wrong(self):
        self.start_daemon()
        self.submit("true", held=True)
        for query, status in (("attempt=x", 400), ("attempt=1", 404), ("attempt=-1", 404)):
            self.assertEqual(self.ask("GET", "/v1/jobs/1/usage?" + query).status, status, query)


class Show(HttpCase):
    def test_environment_without_its_secrets(self):
        self.start_daemon()
        self.submit("true", held=True, environment=["A=<b>", "API_KEY=s", "DB=x://u:p@h", "E=🚀\n"])
        self.assertEqual(self.get("/v1/jobs/1")["environment"],
                         ["A=<b>", "API_KEY=********", "DB=********", "E=🚀\n"])
        self.assertNotIn("environment", self.get("/v1/jobs")["jobs"][0])

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_environment_is_for_its_user(self):
        self.start_daemon(words=["--everyone"])
        self.submit("true", held=True, environment=["A=1"])
        self.assertNotIn("environment", self.ask("GET", "/v1/jobs/1", connection=self.as_nobody()).json())

    def test_expected_end(self):
        self.start_daemon()
        self.make_gates("gate")
        self.submit("read x < gate", expected_s=100, timeout_s=500)
        self.submit("read x < gate", timeout_s=500)
        self.eventually(lambda: all(self.get(f"/v1/jobs/{i}")["state"] == "running" for i in (1, 2)))
        for job, length in zip(self.get("/v1/jobs")["jobs"], (100, 500)):
            self.assertAlmostEqual(job["expected_end"] - job["started"], length, places=2)
        self.post("/v1/jobs/kill?select=1-2")
        self.get("/v1/wait")
        self.assertNotIn("expected_end", self.get("/v1/jobs/1"))


if __name__ == "__main__":
    unittest.main()
