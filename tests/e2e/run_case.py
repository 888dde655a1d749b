"""What the end-to-end tests of `berth run` share: fifos to wait on, and a look at who is left."""

import json
import os
import select
import selectors
import signal
import subprocess
import time

from gpu_case import BERTH, BUILD, DEADLINE, GIB, GpuCase


class Fifo:
    """A named pipe that stays open here, so that neither end in a job ever waits for the other.

    A job says something with `echo word > PATH`, and waits for let() with `read x < PATH`.
    """

    def __init__(self, case, path):
        os.mkfifo(path)
        self.case, self.path = case, path
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        case.addCleanup(os.close, self.fd)
        self.text = b""

    def line(self):
        """The next line, which must come before the deadline."""
        while b"\n" not in self.text:
            self.case.assertTrue(readable(self.fd, DEADLINE), f"nothing came through {self.path}")
            self.text += os.read(self.fd, 65536)
        line, self.text = self.text.split(b"\n", 1)
        return line.decode()

    def lines(self, count):
        return [self.line() for _ in range(count)]

    def let(self, count=1):
        os.write(self.fd, b"\n" * count)


def readable(fd, seconds):
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def processes_with(entry):
    """Ids of the live processes that have `entry` ("NAME=value") in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if entry.encode() in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass  # it has just ended, or is none of ours
    return found


class RunCase(GpuCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.nobody_is_left)  # runs after what ends the processes of the test

    def mine(self):
        """The processes of this test: all of them have its BERTH_HOME."""
        return processes_with("BERTH_HOME=" + self.home)

    def nobody_is_left(self):
        try:
            self.eventually(lambda: not self.mine(), "processes are left")
        finally:
            for pid in self.mine():
                os.kill(pid, signal.SIGKILL)

    def eventually(self, is_so, message="it did not happen"):
        """Waits for what sends no event of its own."""
        end = time.monotonic() + DEADLINE
        while not (value := is_so()):
            self.assertLess(time.monotonic(), end, message)
            select.select([], [], [], 0.005)
        return value

    def path(self, name):
        return os.path.join(self.home, name)

    def fifo(self, name):
        return Fifo(self, self.path(name))

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_jobs(self, text, *words, gpus="sim:2", code=0, env=None, program=(BERTH, "run")):
        """Runs what `text` says through a pipe, to the end."""
        if not isinstance(text, (str, bytes)):
            text = "\n".join(text) + "\n"
        done = subprocess.run([*program, "--gpus", *gpus.split(), *words], env=env or self.env,
                              input=text if isinstance(text, bytes) else text.encode(),
                              capture_output=True, timeout=3 * DEADLINE, cwd=self.home)
        done.stdout = done.stdout.decode(errors="replace")
        done.stderr = done.stderr.decode(errors="replace")
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr + done.stdout[-4000:])
        return done

    def run_events(self, text, *words, **options):
        """The same with --json: the events."""
        return events(self.run_jobs(text, "--json", *words, **options).stdout)

    def launch(self, *words, gpus="sim:2", program=(BERTH, "run"), stdin=subprocess.PIPE, env=None,
               **options):
        """Starts a run that the test goes on talking to."""
        process = subprocess.Popen([*program, "--gpus", *gpus.split(), *words],
                                   env=env or self.env, stdin=stdin, cwd=self.home,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(self.end, process)
        process.pending = {process.stdout: b"", process.stderr: b""}
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
            stream.close()  # unread: somebody whom it left behind may hold the other end

    def line(self, process, stream=None):
        """The next line of its output, or of its stderr, which must come before the deadline."""
        stream = stream or process.stdout
        while b"\n" not in process.pending[stream]:
            self.assertTrue(readable(stream.fileno(), DEADLINE), "no output")
            text = os.read(stream.fileno(), 65536)
            self.assertTrue(text, "its output has ended")
            process.pending[stream] += text
        line, process.pending[stream] = process.pending[stream].split(b"\n", 1)
        return line.decode() + "\n"

    def line_with(self, process, words, stream=None):
        """Reads up to a line that holds these words."""
        while words not in (line := self.line(process, stream)):
            pass
        return line

    def feed(self, process, *lines):
        process.stdin.write("".join(line + "\n" for line in lines))
        process.stdin.flush()

    def finish(self, process, code=0):
        """Ends its input and waits for it; what it printed."""
        pending = [process.pending[stream].decode() for stream in (process.stdout, process.stderr)]
        out, err = (a + b for a, b in zip(pending, process.communicate(timeout=DEADLINE)))
        self.assertEqual(process.returncode, code, err + out[-4000:])
        return out, err

    def gone(self, *pids):
        """All these processes have ended; a killed one takes a moment on a busy machine."""
        self.eventually(lambda: not set(pids) & set(self.mine()), f"one of {pids} still runs")


def events(text, kind=None):
    parsed = [json.loads(line) for line in text.splitlines()]
    return [event for event in parsed if kind is None or event["event"] == kind]


def of_kind(stream, kind):
    return [event for event in stream if event["event"] == kind]
