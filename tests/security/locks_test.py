"""Device locks in a folder for everybody: what another user may do there, and what it must not do."""

import fcntl
import os
import shutil
import signal
import subprocess
import unittest

from daemon_case import BERTH, DEADLINE, DaemonCase

NOBODY = 65534

def lock_everything(root):
    """Locks whatever can be opened below a folder; the descriptors."""
    held = []
    for path in [root, *(os.path.join(at, name) for at, folders, files in os.walk(root)
                         for name in folders + files)]:
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            continue
        for how in fcntl.LOCK_EX, fcntl.LOCK_SH:
            try:
                fcntl.flock(file, how | fcntl.LOCK_NB)
                held.append(file)
                break
            except OSError:
                pass
    return held


@unittest.skipUnless(os.geteuid() == 0, "only root can be two users")
class LocksCase(DaemonCase):
    devices = "0,1"  # taken on trust: the same devices for every user

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.locks = self.env["BERTH_LOCKS"]

    def stranger(self, make=None):
        """Another user who locks whatever can be locked, and holds on until end_stranger()."""
        ready, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                if make is not None:
                    make()
                held = lock_everything(self.locks)
                os.write(told, b"%d" % len(held))
                os.close(told)
                signal.pause()
            finally:
                os._exit(1)
        self.addCleanup(self.end_stranger, pid)
        os.close(told)
        with os.fdopen(ready) as reader:
            self.assertGreater(int(reader.read() or 0), 0, "nothing could be locked")
        return pid

    @staticmethod
    def end_stranger(pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def all_names(self):
        return sorted(os.path.join(self.locks, name) for name in os.listdir(self.locks))

    def job(self, number):
        return next(job for job in self.jobs() if job["id"] == number)

    def runs(self, command="true", gpus=1):
        """A job that ends well before the deadline."""
        before = len(self.jobs())
        self.berth("submit", "--gpus", str(gpus), command)
        self.eventually(lambda: self.job(before + 1)["state"] in ("succeeded", "failed"),
                        f"the job did not run: {self.berth('why', str(before + 1), code=None)}")
        self.assertEqual(self.job(before + 1)["state"], "succeeded")

    def why(self, number=1):
        return self.berth("why", str(number))


class Strangers(LocksCase):
    def test_whatever_a_stranger_locks_jobs_run_and_the_daemon_answers(self):
        self.make_gates("gate")
        self.start_daemon()
        self.runs()
        self.berth("submit", f"read x < {self.path('gate')}; true")
        self.eventually(lambda: self.job(2)["state"] == "running")
        self.stranger()
        self.runs()
        self.release("gate")
        self.eventually(lambda: self.job(2)["state"] == "succeeded")
        self.runs(gpus=2)

    def test_names_that_another_user_has_taken(self):
        self.make_gates("gate")
        daemon = self.start_daemon()
        self.berth("submit", "--gpus", "2", f"read x < {self.path('gate')}; true")
        self.eventually(lambda: self.job(1)["state"] == "running")
        names = self.all_names()
        self.assertTrue(names)
        self.release("gate")
        self.eventually(lambda: self.job(1)["state"] == "succeeded")
        self.berth("daemon", "stop")
        daemon.wait(DEADLINE)
        shutil.rmtree(self.locks)
        os.mkdir(self.locks)
        os.chmod(self.locks, 0o1777)

        def make(name, kind):
            if kind == "folder":
                os.mkdir(name, 0o700)
            else:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL, 0o600))
                os.chmod(name, kind)
        for kind in 0o600, "folder":
            with self.subTest(kind=kind):
                stranger = self.stranger(lambda kind=kind: [make(name, kind) for name in names])
                self.start_daemon()
                self.runs(gpus=2)
                self.berth("daemon", "stop")
                self.end_stranger(stranger)
                for name in names:
                    os.rmdir(name) if os.path.isdir(name) else os.remove(name)

    def test_who_makes_a_lock_by_hand_has_the_device_and_is_named(self):
        self.start_daemon()
        self.runs()
        names = [f"{self.locks}/berth-id-{device}@run-0-{device}" for device in "01"]
        stranger = self.stranger(lambda: [os.chmod(os.open(name, os.O_CREAT, 0o600), 0o644)
                                          for name in names])
        self.berth("submit", "true")
        self.eventually(lambda: "GPU 0 is in use by nobody's" in self.why(2))
        self.end_stranger(stranger)
        self.eventually(lambda: self.job(2)["state"] == "succeeded")

    def test_who_leases_a_device_is_named_and_waited_for(self):
        """Every user may lease: that is what the locks are for."""
        shutil.copy(BERTH, self.path("theirs"))
        os.makedirs(self.path("home2"))
        os.chown(self.path("home2"), NOBODY, NOBODY)
        self.make_gates("gate", "told")
        for name in "gate", "told":
            os.chmod(self.path(name), 0o666)
        self.start_daemon()
        other = subprocess.Popen(
            [self.path("theirs"), "run", "--gpus", "0,1"], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, user=NOBODY,
            group=NOBODY, extra_groups=[],
            env=dict(self.env, BERTH_HOME=self.path("home2"), HOME="/"))
        self.addCleanup(self.end_process, other)
        other.stdin.write("@gpus=2 echo > told; read x < gate\n")
        other.stdin.close()
        other.stdin = None
        self.hear("told")
        self.berth("submit", "--gpus", "2", "true")
        self.eventually(lambda: "is in use by nobody's run, process" in self.why())
        self.assertIn("is in use by nobody's run", self.berth("gpus", "list"))
        self.assertIn("is in use by nobody's run", self.read("home/daemon.log"))
        self.release("gate")
        self.eventually(lambda: self.job(1)["state"] == "succeeded")
        self.assertNotIn("in use by", self.berth("gpus", "list"))


class Folders(LocksCase):
    def make_folder(self, mode, owner):
        os.mkdir(self.locks)
        os.chmod(self.locks, mode)
        os.chown(self.locks, owner, owner)

    def test_a_folder_where_anybody_could_remove_locks_is_not_used(self):
        for mode, owner, name in ((0o777, NOBODY, "nobody"), (0o755, NOBODY, "nobody"),
                                  (0o777, 0, "")):
            with self.subTest(mode=mode, owner=name):
                shutil.rmtree(self.locks, ignore_errors=True)
                self.make_folder(mode, owner)
                for words in ("run", "--gpus", "0", "-q"), ("daemon", "run", "--gpus", "0"):
                    done = self.try_berth(*words, input="true\n")
                    self.assertNotEqual(done.returncode, 0, words)
                    self.assertIn(f"{name and name + ' or '}root must say `chmod 1777 {self.locks}`",
                                  done.stderr)
                self.assertEqual(os.listdir(self.locks), [])

    def test_a_folder_that_becomes_unsafe_is_told_of_and_heals(self):
        self.start_daemon()
        os.chmod(self.locks, 0o777)
        self.berth("submit", "true")
        self.eventually(lambda: f"chmod 1777 {self.locks}" in self.why())
        os.chmod(self.locks, 0o1777)
        self.eventually(lambda: self.job(1)["state"] == "succeeded")

    def test_a_lock_that_was_removed_is_put_back(self):
        """The folder's owner can remove what is in it."""
        self.make_folder(0o1777, NOBODY)
        self.make_gates("gate")
        self.start_daemon()
        self.berth("submit", "--gpus", "2", f"read x < {self.path('gate')}; true")
        self.eventually(lambda: self.job(1)["state"] == "running")
        self.assertEqual(len(self.all_names()), 2)
        subprocess.run(["rm", *self.all_names()], check=True, user=NOBODY, group=NOBODY,
                       extra_groups=[])
        self.eventually(lambda: len(self.all_names()) == 2, "no lock was put back")
        self.eventually(lambda: "removed the lock of GPU 1" in self.read("home/daemon.log"))
        for name in self.all_names():
            with open(name, "rb") as file, self.assertRaises(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.release("gate")
        self.eventually(lambda: self.job(1)["state"] == "succeeded")
        # The daemon keeps the devices for a while, and gives them up to whoever asks.
        self.assertIn("true", self.try_berth("run", "--gpus", "0,1", input="@gpus=2 echo true\n").stdout)
        self.assertEqual(self.all_names(), [])

    def fill(self):
        """No more files fit into the lock folder until room() is made."""
        os.mkdir(self.locks)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=8,mode=1777",
                                  "tmpfs", self.locks], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("this container may not mount")
        self.addCleanup(subprocess.run, ["umount", "-l", self.locks], check=True)
        number = 0
        try:
            while True:
                os.close(os.open(f"{self.locks}/full{number}", os.O_CREAT | os.O_EXCL, 0o600))
                number += 1
        except OSError:
            self.assertGreater(number, 0)

    def room(self):
        for name in os.listdir(self.locks):
            os.remove(os.path.join(self.locks, name))

    def test_a_full_folder_is_told_of_and_heals(self):
        self.fill()
        self.start_daemon()
        self.berth("submit", "--gpus", "2", "true")
        text = self.eventually(lambda: "No space left" in self.why() and self.why())
        self.assertIn("GPU 0 cannot be locked", text)
        self.assertNotIn("in use by another berth", text)
        self.assertIn("No space left", self.berth("gpus", "list"))
        self.assertIn("No space left", self.read("home/daemon.log"))
        self.assertEqual(self.job(1)["state"], "queued")
        self.room()
        self.eventually(lambda: self.job(1)["state"] == "succeeded")
        self.assertEqual(self.job(1)["attempt"], 1)

    def test_a_run_waits_for_room_too(self):
        self.fill()
        run = subprocess.Popen([BERTH, "run", "--gpus", "0"], env=self.env, cwd=self.folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, run)
        run.stdin.write("echo $BERTH_GPUS\n")
        run.stdin.close()
        run.stdin = None
        line = run.stderr.readline()
        self.assertIn("GPU 0 cannot be locked", line)
        self.assertIn("No space left", line)
        self.room()
        self.assertEqual(run.stdout.read(), "0\n")
        self.assertEqual(run.wait(DEADLINE), 0)


class Schedule(LocksCase):
    def schedule(self, *words, user=0):
        return subprocess.run([self.path("schedule"), *words], env=self.env, cwd="/", text=True,
                              capture_output=True, timeout=DEADLINE, check=False, user=user,
                              group=user, extra_groups=[], stdin=subprocess.DEVNULL)

    def test_strangers_who_lock_what_schedule_uses_stop_nobody(self):
        shutil.copy(BERTH, self.path("schedule"))
        self.assertEqual(self.schedule("-i", "2", "1").returncode, 0)
        self.assertEqual(self.schedule("echo got $GPU").stdout.count("got cuda0\n"), 1)
        for name in self.all_names():  # as if nobody had made them
            os.chown(name, NOBODY, NOBODY)
        stranger = self.stranger()
        self.assertIn("closed by schedule -i", self.schedule("-s").stdout)
        self.assertEqual(self.schedule("echo got $GPU").stdout.count("got cuda0\n"), 1)
        refused = self.schedule("-rg", "1")
        self.assertIn(f"process {stranger} of nobody keeps", refused.stderr)
        self.end_stranger(stranger)
        self.assertEqual(self.schedule("-rg", "1").stdout, "GPU 1 is open again\n")


if __name__ == "__main__":
    unittest.main()
