"""With --private, users of a daemon for everyone see of each other's jobs no text at all."""

import os
import unittest

from http_case import NOBODY, HttpCase, Listener

WORD = "hushhush"


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class Private(HttpCase):
    words = ("--everyone", "--private")

    def setUp(self):
        super().setUp()
        self.start_daemon(words=self.words)

    def secret_jobs(self, **more):
        """Of root: one that has ended badly, one that runs, one that waits."""
        fields = {"name": WORD, "project": WORD, "labels": {WORD: WORD}, "sweep": WORD,
                  "parameters": {WORD: WORD}, "directory": self.path(WORD)}
        os.makedirs(self.path(WORD), exist_ok=True)
        self.make_gates("gate")
        self.submit(f": {WORD}; exit 3", f": {WORD}; read x < {self.path('gate')}", **fields, **more)
        self.get("/v1/wait?select=1")
        self.eventually(lambda: self.get("/v1/jobs/2")["state"] == "running")
        self.submit(f": {WORD}", **dict(fields, gpus=2, **more))
        return [1, 2, 3]

    def routes(self, jobs):
        """Each GET route, for each job where it has a number; with what may be asked besides."""
        for route in self.get("/v1")["routes"]:
            if route["method"] != "GET" or route["path"] in ("/v1/events", "/v1/wait"):
                continue
            for job in jobs if "{id}" in route["path"] else [0]:
                yield route["path"].replace("{id}", str(job))
        yield from ("/v1/jobs?all=1", "/v1/jobs/ids?all=1&sort=name", "/v1/timeline?from=0")

    def nobody_gets(self, target, method="GET", body=None):
        return self.ask(method, target, body, connection=self.as_nobody())

    def test_no_route_tells(self):
        jobs = self.secret_jobs()
        for target in self.routes(jobs):
            reply = self.nobody_gets(target)
            self.assertNotIn(WORD.encode(), reply.body, target)
            self.assertIn(reply.status, (200, 409), target)
        for body in ({"queue": True, "policies": ["fifo"]}, {"queue": False, "policies": ["fifo"]}):
            self.assertNotIn(WORD.encode(), self.nobody_gets("/v1/whatif", "POST", body).body)
        # The owner sees it in most of them.
        seen = [target for target in self.routes(jobs)
                if WORD.encode() in self.ask("GET", target).body]
        for target in ("/v1/jobs", "/v1/jobs/3", "/v1/facets", "/v1/timeline"):
            self.assertIn(target, seen)

    def test_what_is_shown(self):
        self.secret_jobs()
        seen = self.nobody_gets("/v1/jobs/2").json()
        self.assertEqual((seen["state"], seen["user"], seen["gpus_needed"], len(seen["gpus"])),
                         ("running", 0, 1, 1))
        self.assertEqual((seen["command"], seen["name"], seen["pid"], seen["log"]),
                         ("(hidden)", "", None, None))
        listed = self.nobody_gets("/v1/jobs?all=1").json()["jobs"]
        self.assertEqual([job["id"] for job in listed], [1, 2, 3])

    def test_searching_does_not_tell(self):
        self.secret_jobs()
        none = {"count": 0, "runs": []}
        for asked in ("search=" + WORD, "search=" + WORD[:4], "select=" + WORD,
                      f"select=name={WORD[:3]}*", f"select=project={WORD}", f"select=sweep={WORD}",
                      f"select=label={WORD}={WORD}", f"select=user=0&select=name={WORD}"):
            reply = self.nobody_gets(f"/v1/jobs/ids?all=1&{asked}").json()
            self.assertEqual((asked, reply["count"]), (asked, none["count"]))
            if not asked.startswith("search"):
                self.assertEqual(self.nobody_gets(f"/v1/jobs?all=1&{asked}").json()["jobs"], [])
                self.assertEqual(self.nobody_gets(f"/v1/wait?{asked}").status, 404, asked)
                for verb in ("kill", "hold", "rerun"):
                    reply = self.nobody_gets(f"/v1/jobs/{verb}?{asked}", "POST")
                    self.assertEqual(reply.status, 404, reply)
        self.assertEqual(self.nobody_gets("/v1/jobs/ids?all=1").json()["count"], 3)
        self.assertEqual(self.get(f"/v1/jobs/ids?all=1&search={WORD}")["count"], 3)

    def test_events_do_not_tell(self):
        nobody, owner = Listener(self.as_nobody()), self.listen()
        last = next(nobody).id
        jobs = self.secret_jobs()
        self.post(f"/v1/jobs/hold?select={jobs[-1]}")
        is_held = (lambda event: event.name == "job" and event.data["id"] == jobs[-1]
                   and event.data["state"] == "held")
        told = nobody.until(is_held) + Listener(self.as_nobody(), last).until(is_held)
        self.assertNotIn(WORD, str(told))
        self.assertIn("(hidden)", str(told))
        self.assertIn(WORD, str(owner.until(is_held)))

    def test_ones_own_jobs_are_all_there(self):
        self.secret_jobs()
        body = {"jobs": [{"command": "true mine", "directory": "/", "name": "mine", "held": True,
                          "project": "ours", "labels": {"a": "b"}, "sweep": "wide"}]}
        own = self.nobody_gets("/v1/jobs", "POST", body).json()["first"]
        self.assertEqual(self.nobody_gets(f"/v1/jobs/{own}").json()["command"], "true mine")
        self.assertEqual(self.nobody_gets("/v1/jobs/ids?search=mine").json()["count"], 1)
        facets = self.nobody_gets("/v1/facets").json()
        self.assertEqual([each["name"] for each in facets["projects"]], ["ours"])
        self.assertEqual([(each["key"], each["value"]) for each in facets["labels"]], [("a", "b")])
        self.assertEqual([each["name"] for each in facets["sweeps"]], ["wide"])
        self.assertEqual({each["uid"] for each in facets["users"]}, {0, NOBODY})


class Asked(HttpCase):
    def test_private_is_for_everyone(self):
        done = self.try_berth("daemon", "run", "--private")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--everyone", done.stderr)


if __name__ == "__main__":
    unittest.main()
