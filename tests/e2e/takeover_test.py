"""A state folder of an earlier berth is taken over: jobs, their past and their settings."""
import gzip
import json
import os
import shutil
import unittest

from daemon_case import DaemonCase

OLD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "store", "databases")


class TakeoverTest(DaemonCase):
    devices = "sim:3x24GiB"

    def unpack(self, version):
        """As that berth left it when it was killed: much is in the redo log alone."""
        os.makedirs(self.home, mode=0o700)
        for name in ("db", "db-redo"):
            with gzip.open(f"{OLD}/v{version}.{name}.gz") as packed, \
                    open(f"{self.home}/berth.{name}", "wb") as file:
                shutil.copyfileobj(packed, file)

    def test_version_7(self):
        """Made by a daemon that submitted, ran, edited, held, failed, retried, reran, swept and forgot."""
        self.unpack(7)
        daemon = self.start_daemon()
        jobs = {job["id"]: job for job in self.jobs()}
        # 1 to 3 and 128 were forgotten.
        self.assertEqual(sorted(jobs), [*range(4, 128)])
        states = {}
        for job in jobs.values():
            states[job["state"]] = states.get(job["state"], 0) + 1
        self.assertEqual(states, {"failed": 1, "held": 1, "queued": 110, "succeeded": 12})
        named = {job["name"]: job for job in jobs.values() if job["name"]}
        self.assertEqual((named["fails"]["state"], named["fails"]["attempt"]), ("failed", 3))
        self.assertEqual(named["edited"]["priority"], -5)
        self.assertEqual((named["retried"]["state"], named["retried"]["attempt"]), ("queued", 1))
        self.assertTrue(self.status()["paused"])
        self.berth("edit", "edited", "--priority", "1")
        self.berth("daemon", "resume")
        self.berth("wait", "project=nlp")
        self.berth("wait", "name=edited")
        self.assertEqual(self.state("follower"), "queued")
        self.berth("release", "held")
        self.berth("wait", "name=follower")
        self.berth("daemon", "stop")
        daemon.wait(60)
        # The old journal is gone, the new one is whole.
        replay = json.loads(self.berth("sim", "--journal", "--json"))
        self.assertEqual(replay["differences"], [])
        self.assertGreaterEqual(len(replay["starts"]), 108)

    def state(self, name):
        return next(job["state"] for job in self.jobs() if job["name"] == name)


if __name__ == "__main__":
    unittest.main()
