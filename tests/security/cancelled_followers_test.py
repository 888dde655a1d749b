"""A job that follows another and is ended first leaves nothing behind that a forecast stumbles over."""

import unittest

from http_case import HttpCase


class CancelledFollowers(HttpCase):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon()

    def follow_and_leave(self, followed):
        """Queues a job behind this one, ends it, and looks ahead in every way there is."""
        follower = self.submit("true", after=[f"any:{followed}"])
        self.post(f"/v1/jobs/kill?select={follower}")
        waiting = self.submit("true", gpus=2)  # the next look is a new one
        self.get("/v1/timeline")
        self.get("/v1/jobs")
        self.get(f"/v1/jobs/{waiting}")
        self.assertEqual(self.get("/v1/status")["pid"], self.daemon.pid)

    def test_of_a_job_that_is_held(self):
        self.follow_and_leave(self.submit("true", held=True))

    def test_of_a_job_that_runs(self):
        self.make_gates("gate")
        running = self.submit("read x < gate")
        self.follow_and_leave(running)
        self.release("gate")

    def test_of_a_job_that_waits(self):
        self.make_gates("gate")
        self.submit("read x < gate", gpus=2)
        self.follow_and_leave(self.submit("true"))
        self.release("gate")


if __name__ == "__main__":
    unittest.main()
