"""Disks that are full and files that are not what they should be, end to end."""

import os
import shutil
import sqlite3
import subprocess
import unittest

from daemon_case import BERTH, DEADLINE, DaemonCase

ENOSPC = 28


class FullDisk(DaemonCase):
    @staticmethod
    def hear_daemon(daemon, text):
        """Reads what the daemon prints up to the line with this text."""
        for line in daemon.stderr:
            if text in line:
                return
        raise AssertionError(f"the daemon ended without a word of: {text}")

    def submit(self, *words):
        """A submission that waits for the disk."""
        process = subprocess.Popen([BERTH, "submit", *words], env=self.env, cwd=self.folder,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end_process, process)
        return process

    def test_nothing_is_acknowledged_or_started_before_it_is_on_disk(self):
        daemon = self.start_daemon(f"store.commit=errno:{ENOSPC}*1", stderr=subprocess.PIPE)
        submission = self.submit("echo ran >> ledger; exit 7")
        self.hear_daemon(daemon, "No space left on device; trying again")
        self.assertFalse(os.path.exists(self.path("ledger")))
        out, errors = submission.communicate(timeout=DEADLINE)
        self.assertEqual((submission.returncode, out), (0, "1\n"), errors)
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 7, None, 1)])
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_kill_9_while_the_disk_is_full(self):
        daemon = self.start_daemon(f"store.commit=errno:{ENOSPC}", stderr=subprocess.PIPE)
        submission = self.submit("--token", "t", "echo ran >> ledger")
        self.hear_daemon(daemon, "trying again")
        daemon.kill()
        submission.communicate(timeout=DEADLINE)
        # It was cut off, or came late and found the next daemon.
        self.assertIn(submission.returncode, (0, 3))
        self.assertEqual(self.berth("submit", "--token", "t", "echo ran >> ledger"), "1\n")
        self.berth("wait", "1")
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_an_end_that_the_disk_refuses_is_written_when_there_is_room(self):
        self.start_daemon(f"shim.write_end=errno:{ENOSPC}*3")
        self.berth("submit", "echo ran >> ledger; exit 7")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 7, None, 1)])
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_a_disk_that_is_really_full(self):
        os.mkdir(self.home)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "berth", self.home],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("only root can mount a small disk")
        self.addCleanup(subprocess.run, ["umount", self.home], check=True)
        self.addCleanup(self.end_everything)  # before that
        daemon = self.start_daemon(stderr=subprocess.PIPE)
        with open(self.home + "/filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError as error:
                self.assertEqual(error.errno, ENOSPC)
        count, padding = 60, "x" * 100_000  # more than the room that the log has already
        with open(self.path("jobs"), "w", encoding="utf-8") as file:
            file.writelines(f"echo {i} >> ledger; exit {i} # {padding}\n" for i in range(count))
        submission = self.submit("--file", "jobs")
        self.hear_daemon(daemon, "trying again")
        os.remove(self.home + "/filler")
        out, errors = submission.communicate(timeout=DEADLINE)
        self.assertEqual((submission.returncode, out), (0, f"1-{count}\n"), errors)
        self.berth("wait")
        self.assertEqual(self.ends(), [("failed" if i else "succeeded", i, None, 1)
                                       for i in range(count)])
        self.assertEqual(sorted(map(int, self.read("ledger").split())), list(range(count)))


class Files(DaemonCase):
    def test_a_torn_exit_record_is_never_believed(self):
        self.make_gates("up", "gate")
        self.berth("submit", "echo $PPID > up; read x < gate; exit 7")
        shim = self.watch(int(self.hear("up")))
        self.kill_daemon()
        self.release("gate")
        self.gone(shim)
        record = self.home + "/jobs/1.1.exit"
        os.truncate(record, os.path.getsize(record) - 5)
        self.berth("wait", "1", code=1)
        self.assertEqual([end[0] for end in self.ends()], ["lost"])
        self.assertIsNone(self.jobs()[0]["exit_code"])

    def refused(self, words):
        """A command cannot do without the queue; it must say so and leave the file alone."""
        before = self.content()
        for command in (("submit", "true"), ("wait",), ("daemon", "start")):
            done = self.try_berth(*command)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            for word in (self.home + "/berth.db", *words):
                self.assertIn(word, done.stderr)
        self.assertTrue(self.content() == before, "the file was changed")

    def content(self):
        """Of the file, and of the log beside it where there is one with anything in it."""
        found = {}
        for name in ("berth.db", "berth.db-wal"):
            path = self.home + "/" + name
            if os.path.isfile(path) and os.path.getsize(path) > 0:
                with open(path, "rb") as file:
                    found[name] = file.read()
        return found

    def make_database(self):
        self.berth("submit", "true")
        self.berth("wait", "1")
        daemon = self.watch(self.status()["pid"])
        self.berth("daemon", "stop")
        self.gone(daemon)

    def test_not_a_database(self):
        os.mkdir(self.home)
        with open(self.home + "/berth.db", "wb") as file:
            file.write(b"not a database" * 1000)
        self.refused(["move it away"])

    def test_a_damaged_database(self):
        self.make_database()
        with open(self.home + "/berth.db", "r+b") as file:
            file.seek(5000)
            file.write(b"\xff" * 20000)
        self.refused(["move it away"])

    def test_a_torn_database(self):
        self.make_database()
        os.truncate(self.home + "/berth.db", 6000)
        self.refused(["move it away"])

    def test_a_newer_database(self):
        self.make_database()
        database = sqlite3.connect(self.home + "/berth.db")
        database.execute("PRAGMA user_version = 99")
        database.commit()
        database.close()
        self.refused(["newer berth", "upgrade berth"])

    def test_a_folder_in_its_place(self):
        os.makedirs(self.home + "/berth.db")
        self.refused([])

    def test_a_queue_that_was_moved_away_and_back(self):
        self.make_database()
        shutil.move(self.home + "/berth.db", self.path("kept"))
        self.assertEqual(self.berth("submit", "true"), "1\n")
        self.berth("wait", "1")
        self.kill_process(self.status()["pid"])
        for name in os.listdir(self.home):
            if name.startswith("berth.db"):
                os.remove(self.home + "/" + name)
        shutil.move(self.path("kept"), self.home + "/berth.db")
        self.assertEqual(self.berth("submit", "true"), "2\n")


if __name__ == "__main__":
    unittest.main()
