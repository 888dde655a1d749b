"""What a job gets of the daemon that starts it: nothing that its user would not have."""

import contextlib
import ctypes
import json
import os
import platform
import resource
import signal
import unittest

from http_case import NOBODY, HttpCase

# System calls that Python has no names for.
ADD_KEY, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
CAPSET = {"x86_64": 126, "aarch64": 91}[platform.machine()]
JOIN_SESSION, DESCRIBE, READ = 1, 6, 11
SESSION = -3
LIBC = ctypes.CDLL(None, use_errno=True)

# The job: prints as JSON what it has. Python reads what a shell cannot.
PROBE = f"""
import ctypes, json, os, resource, sys
libc = ctypes.CDLL(None)
def keyctl(*words):
    buffer = ctypes.create_string_buffer(1000)
    size = libc.syscall({KEYCTL}, *words, buffer, len(buffer))
    return buffer.raw[:size].rstrip(b"\\0").decode() if size >= 0 else None
umask = os.umask(0)
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines()
              if ":\\t" in line)
print(json.dumps(dict(
    status={{k: status[k].split() for k in ("Uid", "Gid", "Groups", "SigBlk", "SigIgn", "CapInh",
                                           "CapPrm", "CapEff", "CapAmb", "NoNewPrivs")}},
    umask=umask, nice=os.nice(0), oom=int(open("/proc/self/oom_score_adj").read()),
    scheduler=os.sched_getscheduler(0),
    limits=[resource.getrlimit(i) for i in range(resource.RLIMIT_RTPRIO)],
    descriptors=sorted(os.readlink(f"/proc/self/fd/{{fd}}") for fd in os.listdir("/proc/self/fd")
                       if os.path.exists(f"/proc/self/fd/{{fd}}")),
    session=keyctl({DESCRIBE}, {SESSION}), secret=keyctl({READ}, int(sys.argv[1])))))
"""


def of_the_daemon():
    """In the daemon's process, before it is one: all that a job must not get."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, 7777), files))
    with contextlib.suppress(OSError):  # root of a container may not
        os.nice(-5)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w",
                                            encoding="ascii") as file:
        file.write("-500")
    for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    os.setgroups([0, 4])
    header, net_raw = (ctypes.c_uint32 * 2)(0x20080522, 0), 1 << 13
    everything = (1 << 32) - 1
    with open("/proc/self/status", encoding="ascii") as status:
        now = [int(line.split()[1], 16) for line in status
               if line.startswith(("CapPrm", "CapEff"))]
    data = (ctypes.c_uint32 * 6)(now[1] & everything, now[0] & everything, net_raw,
                                 now[1] >> 32, now[0] >> 32, 0)
    LIBC.syscall(CAPSET, header, data)


@unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
class Inheritance(HttpCase):
    @classmethod
    def setUpClass(cls):
        """A session keyring with a secret in it, as one who logs in has; for this process, too."""
        cls.secret = -1
        if LIBC.syscall(KEYCTL, JOIN_SESSION, None) >= 0:
            cls.secret = LIBC.syscall(ADD_KEY, b"user", b"berth", b"secret", 6, SESSION)

    def probe(self, **job):
        with open(self.path("probe.py"), "w", encoding="ascii") as file:
            file.write(PROBE)
        os.chmod(self.folder, 0o755)
        os.chmod(self.path("probe.py"), 0o644)
        self.start_daemon(words=["--everyone"], preexec_fn=of_the_daemon)
        command = f"exec python3 {self.path('probe.py')} {self.secret}"
        defaults = {"directory": "/", "environment": ["PATH=" + os.environ["PATH"]], **job}
        reply = self.ask("POST", "/v1/jobs", {"defaults": defaults, "jobs": [{"command": command}]},
                         connection=self.as_nobody())
        self.assertEqual(reply.status, 200, reply)
        self.berth("wait", "1", code=None)
        output = self.berth("logs", "1")
        self.assertEqual(self.ends(), [("succeeded", 0, None, 1)], output)
        return json.loads(output)

    def test_a_job_of_another_user(self):
        found = self.probe()
        self.maxDiff = None
        nobody, none = [str(NOBODY)] * 4, ["0" * 16]
        status = found["status"]
        self.assertEqual((status["Uid"], status["Gid"]), (nobody, nobody))
        self.assertEqual(status["Groups"], [str(NOBODY)])
        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "SigBlk"):
            self.assertEqual(status[name], none, name)
        # Python itself ignores these two.
        of_python = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
        self.assertEqual(int(status["SigIgn"][0], 16) & ~of_python, 0)
        self.assertEqual(status["NoNewPrivs"], ["0"])
        self.assertEqual(found["umask"], 0o022)
        self.assertEqual((found["nice"], found["oom"], found["scheduler"]),
                         (0, 0, os.SCHED_OTHER))

    def test_its_limits_are_those_of_a_login(self):
        found = self.probe()["limits"]
        for number, limits in enumerate(found):
            first = [limit % (1 << 64) for limit in resource.prlimit(1, number)]  # -1: none
            most = resource.getrlimit(number)[1] % (1 << 64)  # the daemon's own
            self.assertEqual([limit % (1 << 64) for limit in limits],
                             [min(first[0], first[1], most), min(first[1], most)],
                             f"limit {number}")

    def test_its_descriptors_are_its_own(self):
        found = self.probe(gpus=1)["descriptors"]
        log = self.get("/v1/jobs/1")["log"]
        self.assertEqual(found, sorted(["/dev/null", log, log] + [
            path for path in found if path.startswith((self.home + "/jobs/", self.env["BERTH_LOCKS"]))]))
        self.assertEqual(len(found), 5)  # the attempt's own lock and that of its device

    def test_its_session_keyring_is_its_own(self):
        if self.secret < 0:
            self.skipTest("keyrings cannot be used here")
        with open("/proc/keys", encoding="ascii") as keys:
            self.assertIn("berth: 6", keys.read())
        found = self.probe()
        self.assertIsNone(found["secret"], "a job of another user reads root's key")
        self.assertEqual(found["session"].split(";")[:3], ["keyring", str(NOBODY), str(NOBODY)])


if __name__ == "__main__":
    unittest.main()
