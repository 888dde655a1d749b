"""What the end-to-end tests of devices share: a BERTH_HOME of their own, and no process left."""

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BERTH = os.environ["BERTH"]
BUILD = os.environ["BERTH_BUILD_DIR"]
DEADLINE = 20  # seconds that anything may take before the test fails
GIB = 1 << 30


class GpuCase(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="berth-gpus-")
        self.addCleanup(shutil.rmtree, self.home)
        # No devices of this machine, and none of its settings.
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("BERTH_", "CUDA_", "ROCR_")) and k != "NO_COLOR"}
        self.env.update(BERTH_HOME=self.home, BERTH_SYSFS_ROOT=self.home + "/sys",
                        BERTH_LOCKS=self.home + "/locks")

    def environment(self, **changes):
        env = dict(self.env)
        for name, value in changes.items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def berth(self, *words, env=None, code=0):
        """Runs berth to its end; the finished process."""
        done = subprocess.run([BERTH, *words], env=env or self.env, text=True, timeout=DEADLINE,
                              capture_output=True, stdin=subprocess.DEVNULL)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def start(self, *words, env=None, **options):
        """Starts berth; killed at the end of the test."""
        process = subprocess.Popen([BERTH, *words], env=env or self.env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                                   **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()

    def line(self, process):
        """The next line of its output, which must come before the deadline."""
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        self.assertTrue(selector.select(DEADLINE), "no output")
        return process.stdout.readline()

    def read_until(self, fd, words):
        """Reads from a descriptor until `words` have come; all that was read."""
        text = b""
        end = time.monotonic() + DEADLINE
        selector = selectors.DefaultSelector()
        selector.register(fd, selectors.EVENT_READ)
        while words not in text:
            self.assertTrue(selector.select(max(0, end - time.monotonic())), text)
            text += os.read(fd, 65536)
        return text
