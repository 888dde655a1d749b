"""The daemon that is fuzzed: its start and end, what it uses, and what becomes of it."""

import ctypes
import glob
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time

NOBODY = 65534
START_S = 60  # for a daemon with sanitizers on a busy machine
PR_SET_CHILD_SUBREAPER = 36


class Finding(Exception):
    """Something is wrong with the daemon."""

    def kind(self):
        """The same for findings that are probably one."""
        text = str(self)
        if text.startswith("a sanitizer reports"):
            error = re.search(r"(ERROR: \w+: [\w-]+|runtime error: .*)", text)
            frame = re.search(r" in (?!__|std::|void std::)(.*)", text)
            text = f"{error[1] if error else text[:300]} {frame[1] if frame else ''}"
        return re.sub(r"0x\w+|\d+", "N", text.split(" in the answer ")[0])[:300]


def adopt_orphans():
    """What jobs leave behind becomes ours, so that end_descendants() finds it."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants():
    def parents():
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    state, parent = file.read().rsplit(")", 1)[1].split()[:2]
                    if state != "Z":
                        found[int(pid)] = int(parent)
            except OSError:
                pass
        return found

    while True:
        parent_of, ours = parents(), {os.getpid()}
        while more := {pid for pid, parent in parent_of.items() if parent in ours} - ours:
            ours |= more
        if len(ours) == 1:
            break
        for pid in ours - {os.getpid()}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)
    try:
        while True:
            os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass


class FuzzedDaemon:
    """Run by root it is a shared one, and the fuzzer's jobs are those of another user."""

    def __init__(self, berth, memory_mb):
        self.berth = berth
        self.memory_mb = memory_mb
        self.shared = os.getuid() == 0
        self.process = None
        self.ended = -1  # a descriptor that is readable when it has
        self.folder = None

    def fresh(self):
        """A new home, and a daemon in it."""
        self.clear()
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="berth-fuzz-", dir=memory)
        os.chmod(self.folder, 0o711)
        self.start()

    def clear(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        end_descendants()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None

    @property
    def home(self):
        return self.folder + "/home"

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        log = f"log_path={self.folder}/sanitizer"
        # A limit of its own: what a sanitizer takes for itself counts, too.
        limits = (f"hard_rss_limit_mb={self.memory_mb}:max_allocation_size_mb={self.memory_mb}:"
                  "quarantine_size_mb=16:abort_on_error=1:disable_coredump=1")
        env = {k: v for k, v in os.environ.items() if not k.startswith("BERTH_")}
        env.update(BERTH_HOME=self.home, BERTH_LOCKS=self.folder + "/locks",
                   ASAN_OPTIONS=f"{limits}:{log}", UBSAN_OPTIONS=f"print_stacktrace=1:{log}")
        if self.ended >= 0:
            os.close(self.ended)
        ready, told = os.pipe()
        self.process = subprocess.Popen(
            [self.berth, "daemon", "run", "--gpus", "sim:2", "--listen", "127.0.0.1:0", "--ready-fd", str(told),
             *(["--everyone"] if self.shared else [])],
            env=env, cwd=self.folder, pass_fds=[told], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(self.folder + "/stderr", "ab"))
        os.close(told)
        self.ended = os.pidfd_open(self.process.pid)
        with os.fdopen(ready) as reader:
            said = reader.read() if select.select([reader], [], [], START_S)[0] else "nothing"
        if said != "ok":
            self.check_reports()
            raise Finding(f"the daemon does not start: it says {said!r} {self.last_words()}")

    def last_words(self):
        with open(self.folder + "/stderr", encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]

    def check_reports(self):
        """Of the sanitizers, and of the daemon's, the launcher's and the shims' alike."""
        for path in sorted(glob.glob(self.folder + "/sanitizer*")):
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = [line[:300] for line in file if "Symbolizer buffer too small" not in line]
            if lines:
                raise Finding("a sanitizer reports:\n" + "".join(line.rstrip() + "\n" for line in lines[:40]))

    def alive(self):
        return self.process.poll() is None

    def wait(self, seconds):
        """Its exit code; a finding when it does not come."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Finding(f"the daemon was told to end and is still there {seconds} s later") from None

    def kill(self):
        self.process.kill()
        self.process.wait()

    # --- what it uses

    def memory(self):
        """In MB, now and at its highest."""
        values = {}
        try:
            with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
                for line in file:
                    if line.startswith(("VmRSS", "VmHWM")):
                        values[line[:5]] = int(line.split()[1]) // 1024
        except OSError:
            pass
        return values.get("VmRSS", 0), values.get("VmHWM", 0)

    def loop_seconds(self):
        """The processor time of its loop: on a busy machine that says more than a clock."""
        try:
            with open(f"/proc/{self.pid}/task/{self.pid}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # --- connections

    def connect(self, kind, address):
        """`owner` and `other` by the Unix socket, `token` and `stranger` by TCP."""
        if kind in ("token", "stranger"):
            return socket.create_connection(address, timeout=START_S)
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(START_S)
        if kind == "other" and self.shared:
            os.seteuid(NOBODY)
        try:
            sock.connect(self.home + "/berth.sock")
        finally:
            if kind == "other" and self.shared:
                os.seteuid(0)
        return sock

    def token(self):
        with open(self.home + "/token", encoding="ascii") as file:
            return file.read().strip()
