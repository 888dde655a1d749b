"""A loss of power: what was written and not synced is gone, and so is every process.

A library under the daemon's files (tests/power_loss) keeps what the disk would have. Nothing that was
acknowledged may be missing then, and nothing may have been told that did not happen.
"""

import json
import os
import shutil
import signal
import threading
import unittest

from daemon_case import DEADLINE, DaemonCase

LIBRARY = os.environ["BERTH_BUILD_DIR"] + "/power_loss/libpower_loss.so"


@unittest.skipIf(os.environ.get("BERTH_SANITIZED") == "1", "a sanitizer must be loaded first")
class PowerLoss(DaemonCase):
    def setUp(self):
        super().setUp()
        self.disk = self.folder + "/disk"
        os.makedirs(self.disk)
        os.makedirs(self.home, exist_ok=True)
        self.boots = 0
        self.boot()

    def boot(self):
        self.boots += 1
        self.env["BERTH_BOOT_ID"] = self.folder + "/boot"
        with open(self.env["BERTH_BOOT_ID"], "w", encoding="utf-8") as file:
            file.write(f"boot-{self.boots}\n")

    def start_on_disk(self, failpoints=""):
        under = {"LD_PRELOAD": LIBRARY, "POWER_LOSS_FROM": os.path.realpath(self.home),
                 "POWER_LOSS_TO": self.disk}
        clients = self.env
        self.env = dict(self.env, **under)
        try:
            return self.start_daemon(failpoints)
        finally:
            self.env = clients

    def lose_power(self, records=True):
        """Every process dies, and the files are what the disk has. `records`: those of the shims,
        which nobody syncs while a daemon lives, may have got there or not."""
        self.end_everything()
        with open(self.disk + "/names", encoding="utf-8") as file:
            names = dict(reversed(line.split()) for line in file)
        for name in os.listdir(self.home):
            if os.path.isfile(f"{self.home}/{name}") and not os.path.islink(f"{self.home}/{name}"):
                os.unlink(f"{self.home}/{name}")
        for name, inode in names.items():
            kept = f"{self.disk}/{inode}"
            if os.path.exists(kept):
                shutil.copyfile(kept, f"{self.home}/{name}")
                os.chmod(f"{self.home}/{name}", 0o600)
        if not records:
            shutil.rmtree(self.home + "/jobs")
            os.mkdir(self.home + "/jobs", 0o700)
        self.boot()

    def test_what_was_only_written_is_gone_and_was_not_acknowledged(self):
        for step, kept in (("daemon.after_write", False), ("runner.after_request", False),
                           ("daemon.after_commit", True)):
            with self.subTest(step):
                self.setUp()
                daemon = self.start_on_disk()
                self.assertEqual(self.berth("submit", "--hold", "true"), "1\n")
                daemon.kill()
                daemon.wait()
                daemon = self.start_on_disk(f"{step}=kill")
                self.assertNotEqual(self.try_berth("submit", "--name", "second", "true").returncode,
                                    0)
                self.dies(daemon)
                self.lose_power()
                self.berth("daemon", "start")
                self.assertEqual([job["name"] for job in self.jobs()],
                                 ["", "second"] if kept else [""])

    def test_a_start_that_was_only_written_happens_again(self):
        for records in (True, False):
            with self.subTest(records=records):
                self.setUp()
                daemon = self.start_on_disk()
                self.assertEqual(self.berth("submit", "--hold", "echo ran >> ledger"), "1\n")
                daemon.kill()
                daemon.wait()
                daemon = self.start_on_disk("runner.after_request=kill")
                self.assertNotEqual(self.try_berth("release", "1").returncode, 0)
                self.dies(daemon)
                self.lose_power(records)
                self.berth("daemon", "start")
                self.assertEqual(self.jobs()[0]["state"], "held", "its release was not acknowledged")
                self.berth("release", "1")
                self.berth("wait", "1")
                self.assertEqual(self.ends(), [("succeeded", 0, None, 1)])

    def test_a_busy_daemon(self):
        for round_ in range(4):
            with self.subTest(round_):
                self.setUp()
                self.one_loss(after=10 + 25 * round_, records=round_ % 2 == 0)

    def one_loss(self, after, records):
        daemon = self.start_on_disk()
        self.env["BERTH_GPUS"] = "such as no machine has"  # so no client starts another daemon
        acknowledged, ended, begun = {}, {}, set()
        enough = threading.Event()

        def submit(client):
            for number in range(200):
                done = self.try_berth("submit", "--name", f"{client}-{number}", f"exit {number % 3}")
                if done.returncode != 0:
                    return
                acknowledged[int(done.stdout)] = f"{client}-{number}"
                if len(acknowledged) >= after:
                    enough.set()

        def look():
            while True:
                done = self.try_berth("queue", "--all", "--json")
                if done.returncode != 0:
                    return
                for job in json.loads(done.stdout)["jobs"]:
                    if job["attempt"] > 0:
                        begun.add(job["id"])
                    if job["state"] in ("succeeded", "failed"):
                        ended[job["id"]] = (job["state"], job["exit_code"])

        threads = [threading.Thread(target=submit, args=(client,)) for client in range(3)]
        threads.append(threading.Thread(target=look))
        for thread in threads:
            thread.start()
        try:
            self.assertTrue(enough.wait(DEADLINE))
        finally:
            daemon.send_signal(signal.SIGKILL)
            daemon.wait()
            for thread in threads:
                thread.join(DEADLINE)
            self.env["BERTH_GPUS"] = self.devices
        self.lose_power(records)
        self.berth("daemon", "start")
        found = {job["id"]: job for job in self.jobs()}
        for number, name in acknowledged.items():
            self.assertEqual(found.get(number, {}).get("name"), name, f"job {number}")
        for number, end in ended.items():
            self.assertEqual((found[number]["state"], found[number]["exit_code"]), end, number)
        for number in begun:
            self.assertNotIn(found[number]["state"], ("queued", "held"), number)
        self.try_berth("wait")
        states = {job["state"] for job in self.jobs()}
        self.assertLessEqual(states, {"succeeded", "failed", "lost"})


if __name__ == "__main__":
    unittest.main()
