"""A job that has had all the attempts that can be counted."""

import sqlite3
import unittest

from daemon_case import DaemonCase

MOST = 65535


class AttemptLimit(DaemonCase):
    def pretend(self, attempts):
        """Job 1 has had so many attempts."""
        daemon = self.watch(self.status()["pid"])
        self.berth("daemon", "stop")
        self.gone(daemon)
        database = sqlite3.connect(self.home + "/berth.db")
        database.execute("UPDATE jobs SET attempt = ?", (attempts,))
        database.execute("UPDATE attempts SET attempt = ?", (attempts,))
        database.commit()
        database.close()
        self.berth("daemon", "start")

    def test_another_rerun_is_refused(self):
        self.berth("submit", "exit 7")
        self.berth("wait", "1", code=1)
        self.pretend(MOST - 1)
        self.berth("rerun", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 7, None, MOST)])
        done = self.try_berth("rerun", "1")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"job 1 has had {MOST} attempts", done.stderr)
        self.assertEqual(self.ends(), [("failed", 7, None, MOST)])

    def test_the_last_attempt_is_not_followed_by_another(self):
        self.berth("submit", "--requeue", "--hold", "kill -9 $PPID")  # its shim: it is lost
        self.pretend(MOST - 1)
        self.berth("release", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("lost", None, None, MOST)])


if __name__ == "__main__":
    unittest.main()
