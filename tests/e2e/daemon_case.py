"""What the end-to-end tests of the daemon share: a home of their own, and nothing left running."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BERTH = os.environ["BERTH"]
DEADLINE = 60  # seconds that anything may take before the test fails


class DaemonCase(unittest.TestCase):
    devices = "sim:2"

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="berth-daemon-")
        self.addCleanup(shutil.rmtree, folder)
        self.folder = folder
        self.home = folder + "/home"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BERTH_")}
        self.env.update(BERTH_HOME=self.home, BERTH_GPUS=self.devices,
                        BERTH_LOCKS=folder + "/locks", BERTH_TEST_MARK=folder)
        # By name: a test with many cases has a folder for each.
        self.addCleanup(self.end_everything, folder)

    # --- commands

    def berth(self, *words, code=0, **options):
        done = self.try_berth(*words, **options)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stdout

    def try_berth(self, *words, **options):
        return subprocess.run([BERTH, *words], env=self.env, cwd=self.folder, text=True,
                              capture_output=True, timeout=DEADLINE, check=False, **options)

    def status(self):
        return json.loads(self.berth("daemon", "status", "--json"))

    def jobs(self):
        return json.loads(self.berth("queue", "--all", "--json"))["jobs"]

    def ends(self):
        """What is on record of each job: state, exit code, signal and number of attempts."""
        return [(job["state"], job["exit_code"], job["signal"], job["attempt"])
                for job in self.jobs()]

    # --- the daemon

    def start_daemon(self, failpoints="", answers=True, words=(), **options):
        """One in the foreground with these failpoints; it answers when this returns."""
        ready, told = os.pipe()
        daemon = subprocess.Popen(
            [BERTH, "daemon", "run", "--gpus", self.devices, "--ready-fd", str(told), *words],
            env=dict(self.env, BERTH_FAILPOINTS=failpoints), cwd=self.folder, pass_fds=[told],
            text=True, **options)
        self.addCleanup(self.end_process, daemon)
        os.close(told)
        with os.fdopen(ready) as reader:
            self.assertTrue(select.select([reader], [], [], DEADLINE)[0], "no daemon came up")
            if answers:
                self.assertEqual(reader.read(), "ok")
        return daemon

    @staticmethod
    def end_process(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def dies(self, daemon):
        self.assertEqual(daemon.wait(DEADLINE), -signal.SIGKILL)

    def kill_daemon(self):
        """kill -9, and not before it is gone does this return."""
        self.kill_process(self.status()["pid"])

    def kill_process(self, pid):
        process = self.watch(pid)
        signal.pidfd_send_signal(process, signal.SIGKILL)
        self.gone(process)

    # --- processes

    def watch(self, pid):
        process = os.pidfd_open(pid)
        self.addCleanup(os.close, process)
        return process

    def gone(self, process):
        """Waits until the process behind this descriptor is gone."""
        self.assertTrue(select.select([process], [], [], DEADLINE)[0], "it has not ended")

    def named(self, name):
        """The processes of this home that are called so."""
        return [pid for pid in self.marked() if self.proc(pid, "comm").strip() == name]

    def launchers(self):
        """The daemon's own children of that name: a newborn shim is called so, too."""
        daemon = self.status()["pid"]
        return [pid for pid in self.named("berth-launcher")
                if f"\nPPid:\t{daemon}\n" in self.proc(pid, "status")]

    def marked(self, folder=None):
        mark = f"BERTH_TEST_MARK={folder or self.folder}"
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit()
                and mark in self.proc(pid, "environ").split("\0")]

    @staticmethod
    def proc(pid, name):
        try:
            with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def end_everything(self, folder=None):
        """Also the jobs whose environment is not the test's: they know their daemon's home."""
        run = f"BERTH_RUN={folder or self.folder}/home"
        while left := self.marked(folder) + [int(pid) for pid in os.listdir("/proc") if pid.isdigit()
                                             and run in self.proc(pid, "environ").split("\0")]:
            for pid in left:
                try:
                    process = os.pidfd_open(pid)
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    select.select([process], [], [], 1)
                    os.close(process)
                except ProcessLookupError:
                    pass

    # --- files

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def make_gates(self, *names):
        """Pipes with names: a job stops in `read x < NAME` until release(NAME)."""
        for name in names:
            os.mkfifo(self.path(name))

    def release(self, name):
        self.open_gate(name, os.O_WRONLY).close()

    def hear(self, name):
        """The line that a job writes into a gate."""
        def line():
            with self.open_gate(name, os.O_RDONLY) as gate:
                self.assertTrue(select.select([gate], [], [], DEADLINE)[0], f"nothing came by {name}")
                return gate.readline()  # empty: the writer of the line before has closed only now
        return self.eventually(line).strip()

    def eventually(self, is_so, message="it did not happen"):
        """Waits for what sends no event of its own."""
        end = time.monotonic() + DEADLINE
        while not (value := is_so()):
            self.assertLess(time.monotonic(), end, message)
            select.select([], [], [], 0.005)
        return value

    def open_gate(self, name, flags):
        """Opens it when the other side has; a writer without a reader would wait for ever."""
        def opened():
            try:
                fd = os.open(self.path(name), flags | os.O_NONBLOCK)
                return os.fdopen(fd, "w" if flags == os.O_WRONLY else "r")
            except OSError:
                return None  # a pipe announces a reader to nobody
        return self.eventually(opened, f"nobody reads {name}")
