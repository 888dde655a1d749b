"""Policies of a daemon: shares between owners, a change while it runs, and a power budget."""
import collections
import json
import unittest

from http_case import HttpCase


class PolicyTest(HttpCase):
    devices = "sim:1"

    def replay(self):
        return json.loads(self.berth("sim", "--journal", "--json"))["differences"]

    def order(self):
        """The projects of all jobs, as they started."""
        jobs = self.get("/v1/jobs?all=1&limit=1000")["jobs"]
        return [job["project"] for job in sorted(jobs, key=lambda job: (job["started"], job["id"]))]


class Shares(PolicyTest):
    def run_both(self, policy):
        daemon = self.start_daemon(words=["--policy", policy])
        self.berth("daemon", "pause")
        lines = "".join(f"@project={name} @weight={weight} true\n"
                        for name, weight in (("b", 1), ("a", 3)) for _ in range(40))
        self.berth("submit", "--expected", "1s", "--file", "-", input=lines)
        self.berth("daemon", "resume")
        self.berth("wait")
        self.assertEqual(self.get("/v1/jobs/80")["weight"], 3)
        order = self.order()
        self.berth("daemon", "stop")
        daemon.wait(60)
        self.assertEqual(self.replay(), [])
        return order

    def test_stride_gives_starts_by_weight(self):
        order = self.run_both("stride")
        for first in range(0, 52, 4):  # while both have jobs left, in every four
            self.assertEqual(collections.Counter(order[first:first + 4]), {"a": 3, "b": 1}, first)

    def test_wfq_gives_starts_by_weight(self):
        order = self.run_both("wfq")
        self.assertAlmostEqual(order[:40].count("a"), 30, delta=1)

    def test_users_are_the_owners_where_everyone_may_come(self):
        """Ten projects of one user are not ten shares."""
        self.start_daemon(words=["--policy", "stride", "--everyone"])
        self.assertEqual(self.status()["owners"], "user")
        self.berth("daemon", "pause")
        for name in ("a", "a", "a", "b"):
            self.berth("submit", "--project", name, "--", "true")
        self.berth("daemon", "resume")
        self.berth("wait")
        self.assertEqual(self.order(), ["a", "a", "a", "b"])  # b has no turn of its own

    def test_weights_survive_and_can_be_edited(self):
        self.start_daemon(words=["--policy", "stride"])
        self.berth("daemon", "pause")
        self.berth("submit", "--project", "a", "--weight", "7", "--array", "3", "--", "true")
        self.berth("edit", "2", "--weight", "9")
        self.kill_daemon()
        daemon = self.start_daemon()
        self.assertEqual([self.get(f"/v1/jobs/{i}").get("weight") for i in (1, 2, 3)], [7, 9, 7])
        self.assertIn("weight         9", self.berth("show", "2"))
        self.berth("daemon", "resume")
        self.berth("wait")
        self.berth("daemon", "stop")
        daemon.wait(60)
        self.assertEqual(self.replay(), [])

    def test_wrong_weights(self):
        for wrong in ("0", "-1", "10001", "x"):
            done = self.try_berth("submit", "--weight", wrong, "--", "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--weight", done.stderr)
        done = self.try_berth("submit", "--file", "-", input="@weight=0 true\n")
        self.assertIn("line 1 weight must be from 1 to 10000, not 0", done.stderr)


class Change(PolicyTest):
    devices = "sim:2"

    def test_while_it_runs(self):
        self.start_daemon(words=["--policy", "fifo"])
        self.make_gates("gate")
        listener = self.listen()
        next(listener)
        self.berth("submit", "--project", "z", "--", "read x < gate")
        for name in ("b", "a"):
            self.berth("submit", "--project", name, "--array", "3", "--gpus", "2",
                       "--expected", "1m", "--", "true")
        self.assertEqual(self.berth("daemon", "policy"), "policy fifo, placement idle\n")
        self.assertEqual(self.berth("daemon", "policy", "stride", "--placement", "spread"),
                         "policy stride, placement spread\n")
        seen = listener.until(lambda event: event.name == "daemon")
        self.assertEqual(seen[-1].data, {"paused": False, "policy": "stride", "placement": "spread"})
        self.eventually(lambda: self.get("/v1/jobs/1")["state"] == "running")
        self.release("gate")
        self.berth("wait")
        self.assertEqual(self.order(), ["z", "b", "a", "b", "a", "b", "a"])
        # Kept over a restart, until another start says otherwise.
        self.kill_daemon()
        self.start_daemon()
        self.assertEqual(self.berth("daemon", "policy"), "policy stride, placement spread\n")
        self.kill_daemon()
        self.start_daemon(words=["--policy", "easy"])
        self.kill_daemon()
        daemon = self.start_daemon()
        self.assertEqual(self.berth("daemon", "policy"), "policy easy, placement spread\n")
        # To every policy and back, with jobs that run and wait.
        self.make_gates("again")
        self.berth("submit", "--", "read x < again")
        self.berth("submit", "--project", "a", "--array", "5", "--gpus", "2", "--", "true")
        for policy in self.get("/v1/policies")["policies"]:
            if policy["live"]:
                self.assertEqual(self.post("/v1/daemon/policy?policy=" + policy["name"])["policy"],
                                 policy["name"])
        self.release("again")
        self.berth("wait")
        self.berth("daemon", "stop")
        daemon.wait(60)
        self.assertEqual(self.replay(), [])

    def test_what_is_refused(self):
        self.start_daemon()
        for query, words in (("policy=srtf", "policy srtf needs preemption"),
                             ("policy=none", "there is no policy 'none'"),
                             ("policy=energy:x", "has no power budget"),
                             ("placement=left", "left"), ("", "say which policy or placement")):
            reply = self.ask("POST", "/v1/daemon/policy?" + query)
            self.assertEqual(reply.status, 400)
            self.assertIn(words, reply.json()["error"]["message"])
        self.assertEqual(self.status()["policy"], "priority")


class Energy(PolicyTest):
    devices = "sim:4"  # 350 W each, and 50 W without a job

    def test_the_expected_draw_stays_within_the_budget(self):
        daemon = self.start_daemon(words=["--policy", "energy:900"])
        names = [f"gate{i}" for i in range(4)]
        self.make_gates(*names)
        for name in names:
            self.berth("submit", "--", "read x < " + name)
        running = lambda: [job["id"] for job in self.jobs() if job["state"] == "running"]
        self.eventually(lambda: running() == [1, 2])
        self.assertIn("expected to draw 1100 W, and they may draw 900 W", self.berth("why", "3"))
        self.release("gate0")
        self.eventually(lambda: running() == [2, 3])
        self.assertEqual(self.status()["policy"], "energy:900")
        self.berth("daemon", "policy", "energy:1100")
        self.eventually(lambda: running() == [2, 3, 4])
        for name in names[1:]:
            self.release(name)
        self.berth("wait")
        self.berth("daemon", "stop")
        daemon.wait(60)
        self.assertEqual(self.replay(), [])


if __name__ == "__main__":
    unittest.main()
