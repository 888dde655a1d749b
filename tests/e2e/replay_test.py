"""berth sim --journal: a daemon's journal, told to a fresh scheduler, gives the daemon's own decisions."""
import json
import os
import shutil
import sqlite3
import unittest

from daemon_case import DaemonCase


class ReplayTest(DaemonCase):
    devices = "sim:3x24GiB"

    def replay(self, code=0, path=None):
        words = [path] if path else []
        return json.loads(self.berth("sim", "--journal", *words, "--json", code=code))

    def live_through_much(self):
        """Retries, dependencies, cancels, holds, edits, a pause, arrays, reruns, and a restart."""
        self.start_daemon()
        self.berth("submit", "--retries", "1", "--", "false")
        self.berth("submit", "--gpus", "2", "--priority", "3", "--", "true")
        self.berth("submit", "--array", "0-9", "--", "true")
        self.berth("submit", "--after", "ok:2", "--", "true")
        self.berth("submit", "--hold", "--name", "held", "--", "true")
        self.berth("submit", "--hold", "--name", "gone", "--", "true")
        self.berth("kill", "gone")
        self.berth("edit", "held", "--priority", "-5", "--gpus", "3")
        self.berth("daemon", "pause")
        for _ in range(5):
            self.berth("submit", "--gpus", "1", "--priority", "1", "--", "true")
            self.berth("submit", "--gpus", "3", "--", "true")
        self.berth("release", "held")
        self.berth("daemon", "resume")
        self.berth("wait", code=None)
        self.berth("rerun", "1")
        self.berth("wait", code=None)
        self.berth("daemon", "pause")
        self.berth("submit", "--gpus", "2", "--", "true")
        self.kill_daemon()
        daemon = self.start_daemon()
        self.berth("daemon", "resume")
        self.berth("wait", code=None)
        self.berth("daemon", "stop")
        daemon.wait(60)

    def test_the_same_decisions(self):
        self.live_through_much()
        replay = self.replay()
        self.assertEqual(replay["differences"], [])
        self.assertGreaterEqual(len(replay["starts"]), 25)
        # And it is the daemon's doing that it is held against.
        path = os.path.join(self.folder, "copy.db")
        shutil.copy(os.path.join(self.home, "berth.db"), path)
        self.assertEqual(self.replay(path=path), replay)
        with sqlite3.connect(path) as database:
            database.execute("UPDATE attempts SET begun = begun + 1 WHERE job = "
                             "(SELECT max(job) FROM attempts)")
        database.close()
        self.assertEqual(len(self.replay(code=1, path=path)["differences"]), 1)

    def test_no_journal(self):
        done = self.try_berth("sim", "--journal", "/nowhere/berth.db")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/berth.db: No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
