"""The folder of the shims' records is deleted or full: no job burns, none runs for ever."""

import os
import shutil
import subprocess
import unittest

from daemon_case import DaemonCase

ENOSPC = 28


class Deleted(DaemonCase):
    def setUp(self):
        super().setUp()
        self.make_gates("gate")

    def delete(self):
        shutil.rmtree(self.home + "/jobs")

    def test_jobs_that_come_later_run(self):
        self.berth("submit", "true")
        self.berth("wait", "1")
        for _ in range(3):
            self.delete()
            self.berth("submit", "--array", "5", "true")
            self.berth("wait", code=None)
        self.assertEqual(self.ends(), [("succeeded", 0, None, 1)] * 16)

    def test_the_end_of_a_running_job_is_lost_and_it_goes(self):
        self.make_gates("up")
        self.berth("submit", "echo > up; read x < gate; exit 7")
        self.hear("up")
        self.delete()
        self.berth("submit", "true")
        self.berth("wait", "2")
        shim = self.watch(self.named("berth-shim")[0])
        self.release("gate")
        self.gone(shim)
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("lost", None, None, 1), ("succeeded", 0, None, 1)])

    def test_a_new_daemon_does_not_run_a_job_twice(self):
        self.make_gates("up")
        self.berth("submit", "--gpus", "0", "echo ran >> ledger; echo > up; read x < gate")
        self.hear("up")
        self.eventually(lambda: self.jobs()[0]["state"] == "running")
        self.delete()
        self.kill_daemon()
        self.berth("daemon", "start")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("lost", None, None, 1)])
        self.release("gate")
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_only_the_record_of_a_running_job_is_deleted(self):
        self.berth("submit", "read x < gate; exit 7")
        self.eventually(lambda: os.path.exists(self.home + "/jobs/1.1"))
        os.remove(self.home + "/jobs/1.1")
        self.release("gate")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("lost", None, None, 1)])

    def test_a_running_job_can_be_killed_without_its_folder(self):
        self.berth("submit", "trap '' TERM; read x < gate; sleep 1000")
        self.release("gate")
        self.delete()
        self.berth("kill", "1")
        self.berth("kill", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends()[0][0], "lost")

    def test_a_new_launcher_has_a_folder_again(self):
        self.start_daemon()
        self.delete()
        for launcher in self.launchers():
            self.kill_process(launcher)
        self.berth("submit", "--array", "5", "true")
        self.berth("wait")
        self.assertEqual(self.ends(), [("succeeded", 0, None, 1)] * 5)


class Full(DaemonCase):
    def test_a_job_waits_for_room_for_its_record(self):
        self.start_daemon(f"shim.create=errno:{ENOSPC}*5")
        self.berth("submit", "echo ran >> ledger; exit 7")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 7, None, 1)])
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_a_job_that_waits_for_room_can_be_killed(self):
        self.start_daemon(f"shim.create=errno:{ENOSPC}")
        self.berth("submit", "echo ran >> ledger")
        self.eventually(lambda: self.jobs()[0]["state"] == "starting")
        self.berth("kill", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends()[0][0], "cancelled")
        self.assertFalse(os.path.exists(self.path("ledger")))

    def test_a_new_daemon_takes_up_a_job_that_waits_for_room(self):
        daemon = self.start_daemon(f"shim.create=errno:{ENOSPC}")
        self.berth("submit", "echo ran >> ledger; exit 7")
        self.eventually(lambda: self.jobs()[0]["state"] == "starting")
        daemon.kill()
        daemon.wait()
        self.start_daemon()
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", 7, None, 1)])
        self.assertEqual(self.read("ledger"), "ran\n")

    def test_a_disk_that_is_really_full(self):
        os.makedirs(self.home + "/jobs")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "berth",
                                  self.home + "/jobs"], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("only root can mount a small disk")
        # Lazily: a process that was killed lets go of its files a moment after it is gone.
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.home + "/jobs"], check=True)
        self.addCleanup(self.end_everything)  # before that
        self.start_daemon()
        with open(self.home + "/jobs/filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError as error:
                self.assertEqual(error.errno, ENOSPC)
        self.berth("submit", "--array", "6", "echo $BERTH_JOB_ID >> ledger; exit $BERTH_JOB_ID")
        self.eventually(lambda: [job["state"] for job in self.jobs()].count("starting") == 2)
        self.assertFalse(os.path.exists(self.path("ledger")))
        os.remove(self.home + "/jobs/filler")
        self.berth("wait", code=None)
        self.assertEqual(self.ends(), [("failed", i, None, 1) for i in range(1, 7)])
        self.assertEqual(sorted(map(int, self.read("ledger").split())), list(range(1, 7)))


if __name__ == "__main__":
    unittest.main()
