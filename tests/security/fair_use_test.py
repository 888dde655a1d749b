"""Ordinary users of a daemon for everyone: no rank above others, and no endless queue."""

import json
import os
import unittest

from http_case import HttpCase


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class FairUse(HttpCase):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon(words=["--everyone", "--most-queued-per-user", "5"])

    def submit_as_nobody(self, count=1, **fields):
        job = dict({"command": "true", "directory": "/", "held": True}, **fields)
        return self.ask("POST", "/v1/jobs", {"jobs": [job] * count}, connection=self.as_nobody())

    def refused(self, reply, words):
        self.assertEqual(reply.status, 409, reply)
        self.assertIn(words, reply.json()["error"]["message"])

    def test_ranks_are_for_the_owner_and_root(self):
        self.refused(self.submit_as_nobody(priority=-1), "priority")
        self.refused(self.submit_as_nobody(weight=2), "weight")
        own = self.submit_as_nobody(priority=5).json()["first"]
        for change, words in (({"priority": -1}, "priority"), ({"weight": 2}, "weight")):
            self.refused(self.ask("POST", f"/v1/jobs/edit?select={own}", change,
                                  connection=self.as_nobody()), words)
        self.assertEqual(self.ask("POST", f"/v1/jobs/edit?select={own}", {"priority": 0},
                                  connection=self.as_nobody()).status, 200)
        # Root may, and what root gave stays.
        self.post(f"/v1/jobs/edit?select={own}", {"priority": -7, "weight": 3})
        self.assertEqual(self.ask("POST", f"/v1/jobs/edit?select={own}", {"name": "x"},
                                  connection=self.as_nobody()).status, 200)
        self.assertEqual(self.get(f"/v1/jobs/{own}")["priority"], -7)
        self.submit("true", priority=-100, weight=9, held=True)
        text = {"format": "lines", "text": "@priority=-3 true", "defaults": {}}
        reply = self.ask("POST", "/v1/texts/submit", text, connection=self.as_nobody())
        self.refused(reply, "priority")

    def test_a_user_has_so_many_jobs(self):
        first = self.submit_as_nobody(4).json()["first"]
        self.refused(self.submit_as_nobody(2), "5")
        self.refused(self.submit_as_nobody(1, array=1000), "5")
        self.assertEqual(self.submit_as_nobody().status, 200)
        self.refused(self.submit_as_nobody(), "5")
        # Ended jobs count no more; a new daemon counts the same.
        self.post(f"/v1/jobs/kill?select={first}")
        self.kill_process(self.daemon.pid)
        self.start_daemon(words=["--everyone", "--most-queued-per-user", "5"])
        self.assertEqual(self.submit_as_nobody().status, 200)
        self.refused(self.submit_as_nobody(), "5")
        told = json.loads(self.berth("daemon", "status", "--json"))["load"]["users"]
        self.assertIn(5, [user.get("jobs") for user in told])
        # What has ended is as new when it is run again.
        reply = self.ask("POST", f"/v1/jobs/rerun?select={first}", connection=self.as_nobody())
        self.refused(reply, "5")
        # The owner has no such limit.
        self.submit(*["true"] * 20, held=True)


if __name__ == "__main__":
    unittest.main()
