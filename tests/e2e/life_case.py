"""What the end-to-end tests of a job's life share: streams that are read with a deadline."""

import fcntl
import http.client
import json
import os
import pty
import select
import socket
import struct
import subprocess
import termios

from daemon_case import BERTH, DEADLINE, DaemonCase


class LifeCase(DaemonCase):
    def show(self, job):
        return json.loads(self.berth("show", str(job), "--json"))

    def why(self, job):
        return self.berth("why", str(job)).strip()

    def state(self, job):
        return self.show(job)["state"]

    def fails(self, *words, **options):
        """What is said by a command that is refused."""
        done = self.try_berth(*words, **options)
        self.assertIn(done.returncode, (1, 2), done.stderr + done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith(f"berth {words[0]}: "), done.stderr)
        return done.stderr.split(": ", 1)[1].strip()

    # --- commands that go on

    def start(self, *words):
        process = subprocess.Popen([BERTH, *words], env=self.env, cwd=self.folder, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(self.end_process, process)
        return process

    def line(self, process):
        """The next line of its output. Nothing may be left in a buffer that select() cannot see."""
        text = b""
        while not text.endswith(b"\n"):
            self.assertTrue(select.select([process.stdout], [], [], DEADLINE)[0], "no line came")
            byte = process.stdout.buffer.raw.read(1)
            self.assertTrue(byte, f"it ended within a line: {text!r}")
            text += byte
        return text.decode().rstrip("\n")

    def ends_with(self, process, code):
        """The rest of what it says, and on which output."""
        output, errors = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, code, errors + output)
        return output, errors

    # --- a terminal

    def at_terminal(self, answer, *words, until=None, then=None, keys=b""):
        """What a command prints on a terminal whose user types `answer`, and its exit code. When it
        has printed `until`, `then` is called and `keys` are typed."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(BERTH, [BERTH, *words], self.env)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.write(terminal, answer)
        text = b""
        while True:
            try:
                some = os.read(terminal, 1000)
            except OSError:  # the other end is closed
                some = b""
            if not some:
                break
            text += some
            if until and until.encode() in text:
                until = None
                if then:
                    then()
                os.write(terminal, keys)
        os.close(terminal)
        return text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    # --- what the daemon tells

    def events(self):
        """The daemon's events as they come: (name, data)."""
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(DEADLINE)
        client.connect(self.home + "/berth.sock")
        connection = http.client.HTTPConnection("localhost")
        connection.sock = client
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/events")
        reply = connection.getresponse()
        self.addCleanup(reply.close)
        name = ""
        while line := reply.readline().decode():
            key, _, value = line.rstrip("\n").partition(": ")
            if key == "event":
                name = value
            elif key == "data":
                yield name, json.loads(value)

    def until_running(self, job):
        """Waits until the daemon knows that it runs; what the job does may be seen before that."""
        for name, _ in self.events():
            if name in ("hello", "job") and self.state(job) == "running":
                return
        self.fail("the events ended")

    def devices_until(self, right):
        """Waits for a reading of the devices that is `right`; it is the daemon's own by then."""
        for name, data in self.events():
            if name == "devices" and right({device["name"]: device for device in data["devices"]}):
                return
        self.fail("the events ended")
