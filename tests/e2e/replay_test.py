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

    def entries(self, path, kind):
        """The numbers of the entries of this kind."""
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT entry FROM journal WHERE substr(input, 1, 1) = ?",
                                    (bytes([kind]),)).fetchall()
        database.close()
        return [row[0] for row in rows]

    def copy(self, name):
        path = os.path.join(self.folder, name)
        shutil.copy(os.path.join(self.home, "berth.db"), path)
        return path

    def test_from_each_checkpoint(self):
        """Before one and after it, jobs that were forgotten and edited meanwhile and all."""
        for policy in ("priority", "fair", "wfq"):
            with self.subTest(policy):
                self.setUp()
                self.env["BERTH_JOURNAL_BYTES"] = "12000"
                daemon = self.start_daemon(words=("--policy", policy))
                for i in range(12):
                    self.berth("submit", "--project", "ab"[i % 2], "--array", "12", "--", "true")
                    self.berth("submit", "--hold", "--name", f"held{i}", "--", "true")
                    if i % 3 == 2:
                        self.berth("wait", "project=a", "project=b", code=None)
                        self.berth("forget", "--older", "0s")
                    self.berth("edit", f"held{i}", "--priority", str(i), "--gpus", "2")
                    if i % 4 == 3:
                        self.berth("release", f"held{i}")
                        self.berth("rerun", "state=succeeded", code=None)
                self.berth("wait", "project=a", "project=b", code=None)
                self.berth("daemon", "stop")
                daemon.wait(60)
                whole = self.replay()
                self.assertEqual(whole["differences"], [])
                done = self.entries(self.copy("all.db"), 24)
                self.assertGreater(len(done), 1)
                for last in self.entries(self.path("all.db"), 22):
                    path = self.copy("cut.db")
                    with sqlite3.connect(path) as database:
                        database.execute("DELETE FROM journal WHERE entry < ?", (last,))
                    database.close()
                    replay = self.replay(path=path)
                    self.assertEqual(replay["differences"], [], f"{policy}, from entry {last}")
                    self.assertEqual(replay["starts"], whole["starts"][len(whole["starts"])
                                                                       - len(replay["starts"]):])

    def test_the_journal_ends(self):
        self.env["BERTH_JOURNAL_BYTES"] = "20000"
        daemon = self.start_daemon()
        for _ in range(3):
            self.berth("submit", "--array", "300", "--", "true")
            self.berth("wait")
        self.berth("daemon", "stop")
        daemon.wait(60)
        with sqlite3.connect(self.copy("all.db")) as database:
            size, first = database.execute(
                "SELECT sum(length(input) + 16), min(entry) FROM journal").fetchone()
        database.close()
        self.assertLess(size, 40000)
        self.assertGreater(first, 100)
        self.assertEqual(self.replay()["differences"], [])

    def test_no_journal(self):
        done = self.try_berth("sim", "--journal", "/nowhere/berth.db")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/berth.db: No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
