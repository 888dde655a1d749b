"""Logs of other users: read with that user's rights, whatever their paths lead to."""

import ctypes
import json
import os
import subprocess
import sys
import threading
import unittest

from daemon_case import DEADLINE
from http_case import NOBODY, HttpCase

LIBC = ctypes.CDLL(None, use_errno=True)
STRANGER = 54321  # a group that nobody is in
MNT_DETACH = 2


DEAD_MOUNT = """
import ctypes, os, sys
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=65534,group_id=65534,allow_other"
if ctypes.CDLL(None).mount(b"dead", sys.argv[1].encode(), b"fuse", 0, options.encode()) != 0:
    sys.exit("cannot mount")
greeting = os.read(device, 1 << 20)
answer = (7).to_bytes(4, "little") + (26).to_bytes(4, "little") + bytes(56)
os.write(device, (16 + len(answer)).to_bytes(4, "little") + bytes(4) + greeting[8:16] + answer)
print("mounted", flush=True)
while True:
    os.read(device, 1 << 20)
"""


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class ForeignLogs(HttpCase):
    def submit_as_nobody(self, command="true", **fields):
        job = dict({"command": command, "directory": "/", "gpus": 0}, **fields)
        reply = self.ask("POST", "/v1/jobs", {"jobs": [job]}, connection=self.as_nobody())
        self.assertEqual(reply.status, 200, reply)
        return reply.json()["first"]

    def log_as_nobody(self, number, query=""):
        return self.ask("GET", f"/v1/jobs/{number}/log{query}", connection=self.as_nobody())

    def write(self, name, text, group=0, mode=0o640):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chown(path, 0, group)
        os.chmod(path, mode)
        return path

    def test_the_daemons_groups_are_not_the_users(self):
        self.start_daemon(words=["--everyone"], extra_groups=[0, STRANGER])
        for path in (self.write("roots", "secret"), self.write("strangers", "secret", STRANGER)):
            number = self.submit_as_nobody(output=path)
            self.berth("wait", str(number), code=None)
            reply = self.log_as_nobody(number)
            self.assertNotIn(b"secret", reply.body)
            self.assertEqual(reply.status, 500, reply)
            self.assertIn("Permission denied", reply.json()["error"]["message"])

    def test_the_users_group_is(self):
        self.start_daemon(words=["--everyone"])
        path = self.write("theirs", "theirs\n", NOBODY)
        number = self.submit_as_nobody(output=path)
        self.berth("wait", str(number), code=None)
        self.assertEqual(self.log_as_nobody(number).body, b"theirs\n")

    def test_a_waiting_reader_of_another_user_gets_each_line(self):
        os.mkdir(self.path("open"), 0o777)
        os.chmod(self.path("open"), 0o777)
        self.make_gates("first", "second")
        for gate in ("first", "second"):
            os.chmod(self.path(gate), 0o666)
        self.start_daemon(words=["--everyone"])
        number = self.submit_as_nobody("read x < first; echo one; read x < second; echo two",
                                       directory=self.folder, output=self.path("open/log"))
        self.eventually(lambda: self.get(f"/v1/jobs/{number}")["state"] == "running")
        replies = []
        asker = threading.Thread(
            target=lambda: replies.append(self.log_as_nobody(number, "?wait=1")))
        asker.start()
        self.release("first")
        asker.join(DEADLINE)
        self.assertEqual(replies[0].body, b"one\n")
        asker = threading.Thread(
            target=lambda: replies.append(self.log_as_nobody(number, "?wait=1&offset=4")))
        asker.start()
        self.release("second")
        asker.join(DEADLINE)
        self.assertEqual(replies[1].body, b"two\n")

    def test_only_what_the_user_may_read_is_watched(self):
        """A folder that others may pass through, but whose names they must not learn."""
        self.start_daemon(words=["--everyone"])
        private = self.path("private")
        os.mkdir(private, 0o711)
        os.mkdir(self.path("theirs"))
        os.chown(self.path("theirs"), NOBODY, NOBODY)
        os.symlink(self.path("theirs"), self.path("way"))
        self.make_gates("gate")
        os.chmod(self.path("gate"), 0o666)
        number = self.submit_as_nobody("read x < gate", directory=self.folder,
                                       output=self.path("way/log"))
        self.eventually(lambda: os.path.exists(self.path("theirs/log")))
        os.unlink(self.path("way"))
        os.symlink(private, self.path("way"))
        waiting = self.as_nobody()
        waiting.request("GET", f"/v1/jobs/{number}/log?wait=1")
        pid = self.status()["pid"]  # asked after it, so answered after it was looked at
        inode = format(os.stat(private).st_ino, "x")
        watches = "".join(self.proc(pid, f"fdinfo/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        self.assertNotIn(f"ino:{inode} ", watches)
        self.release("gate")
        self.assertEqual(waiting.getresponse().status, 200)


class Pipes(HttpCase):
    def setUp(self):
        super().setUp()
        if not self.proc("self", "wchan"):
            self.skipTest("the kernel does not tell what processes wait for")

    def test_a_pipe_is_not_opened(self):
        """A reader that comes and goes would end the job, which waits for its own."""
        self.make_gates("pipe")
        self.start_daemon()
        number = self.submit("echo hello", gpus=0, output=self.path("pipe"))
        def waits_for_a_reader():
            return [pid for pid in self.marked() if self.proc(pid, "wchan") == "wait_for_partner"]
        self.eventually(waits_for_a_reader)
        for _ in range(50):
            self.assertEqual(self.ask("GET", f"/v1/jobs/{number}/log").status, 409)
        self.assertTrue(waits_for_a_reader())
        with open(self.path("pipe"), encoding="utf-8") as pipe:
            self.assertEqual(pipe.readline(), "hello\n")
        self.berth("wait", str(number))


@unittest.skipUnless(os.getuid() == 0 and os.path.exists("/dev/fuse"), "needs root and FUSE")
class DeadFiles(HttpCase):
    """A file system of a user's making that takes questions and never answers them. Once taken,
    a question cannot be withdrawn: not even SIGKILL ends who asked."""

    devices = "sim:1"

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o711)
        os.mkdir(self.path("dead"))
        os.mkdir(self.path("theirs"))
        os.chown(self.path("theirs"), NOBODY, NOBODY)
        os.symlink("theirs", self.path("way"))
        self.make_gates("gate")
        os.chmod(self.path("gate"), 0o666)
        self.start_daemon(words=["--everyone"])
        mount = subprocess.Popen([sys.executable, "-c", DEAD_MOUNT, self.path("dead")],
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.unmount, mount)
        if mount.stdout.readline() != "mounted\n":
            self.skipTest("file systems cannot be mounted here")

    def unmount(self, mount):
        """Who asked gets an error when nobody is left to answer."""
        mount.kill()
        mount.communicate()
        LIBC.umount2(self.path("dead").encode(), MNT_DETACH)

    def run_as_nobody(self, command, gpus):
        """A job whose output leads into the dead files once it runs."""
        job = {"command": command, "directory": self.folder, "gpus": gpus,
               "output": self.path("way/log")}
        number = self.ask("POST", "/v1/jobs", {"jobs": [job]},
                          connection=self.as_nobody()).json()["first"]
        self.eventually(lambda: os.path.exists(self.path("theirs/log")))
        os.unlink(self.path("way"))
        os.symlink("dead", self.path("way"))
        return number

    def test_logs_hold_up_their_user_alone(self):
        number = self.run_as_nobody("read x < gate", 0)
        asking = self.as_nobody()
        asking.request("GET", f"/v1/jobs/{number}/log?wait=1")
        self.get("/v1/status")  # others are served
        reply = asking.getresponse()
        self.assertEqual(reply.status, 503)
        self.assertEqual(json.loads(reply.read())["error"]["message"],
                         f"the files of user {NOBODY} do not answer: try again later")
        self.stop_daemon()  # and it ends, though its helper cannot
        self.release("gate")

    def test_a_user_of_whom_several_hang_gets_no_more(self):
        number = self.run_as_nobody("read x < gate", 0)
        pid = self.status()["pid"]
        for _ in range(5):
            reply = self.ask("GET", f"/v1/jobs/{number}/log", connection=self.as_nobody())
            self.assertEqual(reply.status, 503)
        helpers = [name for name in os.listdir("/proc") if name.isdigit()
                   and f"\nPPid:\t{pid}\n" in self.proc(name, "status")
                   and self.proc(name, "comm") == "berth-files\n"]
        self.assertEqual(len(helpers), 3)
        self.release("gate")

    def test_an_end_is_settled_without_the_last_words(self):
        number = self.run_as_nobody("read x < gate; exit 3", 1)
        self.release("gate")
        self.berth("wait", str(number), code=1)
        shown = self.get(f"/v1/jobs/{number}")
        self.assertEqual((shown["state"], shown["exit_code"]), ("failed", 3))


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class LastWords(HttpCase):
    devices = "sim:1"

    def test_another_users_job_is_known_to_have_run_out_of_memory(self):
        self.start_daemon(words=["--everyone"])
        command = "echo 'CUDA out of memory. Tried to allocate 20.00 GiB' >&2; exit 1"
        job = {"command": command, "directory": "/", "gpus": 1}
        number = self.ask("POST", "/v1/jobs", {"jobs": [job]},
                          connection=self.as_nobody()).json()["first"]
        self.berth("wait", str(number), code=1)
        self.assertEqual(self.get(f"/v1/jobs/{number}")["state"], "oom")


if __name__ == "__main__":
    unittest.main()
