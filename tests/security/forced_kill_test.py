"""A job that is killed by force takes nobody with it: the jobs after it run, whoever killed it."""

import os
import signal
import unittest

from http_case import NOBODY, HttpCase

STUBBORN = "trap '' TERM; echo $$ $PPID > up; while :; do sleep 1; done"
AFTER = 20


def cgroup_of(pid):
    """The folder of the process's cgroup; None where there is no cgroup v2."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        roots = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        paths = [line.strip()[3:] for line in file if line.startswith("0::")]
    return roots[0] + paths[0] if roots and paths else None


class ForcedKill(HttpCase):
    def setUp(self):
        super().setUp()
        self.make_gates("up")

    def stubborn(self, *words):
        """A running job that ignores TERM; its process and its shim."""
        self.berth("submit", *words, STUBBORN)
        return map(int, self.hear("up").split())

    def jobs_after_it_run(self):
        first = self.submit(*["true"] * AFTER)
        self.berth("wait", f"{first}-{first + AFTER - 1}", code=None)
        self.assertEqual(self.ends()[first - 1:], [("succeeded", 0, None, 1)] * AFTER)

    def cgroup(self, pid):
        found = cgroup_of(pid)
        if found is None or "/berth-" not in found:
            self.skipTest("cgroup v2 cannot be written here")
        return found

    @staticmethod
    def kill_cgroup(path):
        with open(path + "/cgroup.kill", "w", encoding="ascii") as file:
            file.write("1")

    def test_killed_twice(self):
        for _ in range(3):
            self.stubborn()
            number = self.jobs()[-1]["id"]
            self.berth("kill", str(number))
            self.berth("kill", str(number))
            self.berth("wait", str(number), code=1)
            self.assertEqual(self.ends()[-1], ("cancelled", None, signal.SIGKILL, 1))
        self.jobs_after_it_run()

    def test_killed_by_a_signal(self):
        self.stubborn()
        self.berth("kill", "--signal", "KILL", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", None, signal.SIGKILL, 1)])
        self.jobs_after_it_run()

    def test_killed_after_its_time_limit(self):
        self.make_gates("asked")
        self.berth("submit", "--timeout", "1s",
                   "trap 'echo asked > asked; trap \"\" TERM' TERM; while :; do sleep 1; done")
        self.assertEqual(self.hear("asked"), "asked")
        self.berth("kill", "1")
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("timed_out", None, signal.SIGKILL, 1)])
        self.jobs_after_it_run()

    def test_its_shim_dies_after_it(self):
        pid, shim = self.stubborn()
        watched = self.watch(shim)
        signal.pidfd_send_signal(watched, signal.SIGSTOP)  # what it has killed, it does not report
        self.kill_cgroup(self.cgroup(pid))
        signal.pidfd_send_signal(watched, signal.SIGKILL)
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("lost", None, None, 1)])
        self.jobs_after_it_run()

    def test_killed_from_outside(self):
        pid, _ = self.stubborn()
        self.kill_cgroup(self.cgroup(pid))
        self.berth("wait", "1", code=1)
        self.assertEqual(self.ends(), [("failed", None, signal.SIGKILL, 1)])
        self.jobs_after_it_run()

    def test_no_two_jobs_have_the_same_cgroup(self):
        """So nobody can kill or freeze one for a job to come."""
        self.start_daemon()
        first = self.submit(*["grep ^0:: /proc/self/cgroup"] * AFTER)
        self.berth("wait", code=None)
        found = [self.berth("logs", str(first + i)).strip() for i in range(AFTER)]
        if "/berth-" not in found[0]:
            self.skipTest("cgroup v2 cannot be written here")
        self.assertEqual(len(set(found)), AFTER, found)

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_jobs_of_another_user_run_after_it(self):
        self.start_daemon(words=["--everyone"])
        self.stubborn()
        self.berth("kill", "1")
        self.berth("kill", "1")
        self.berth("wait", "1", code=1)
        body = {"jobs": [{"command": "id -u", "directory": "/"}] * AFTER}
        first = self.ask("POST", "/v1/jobs", body, connection=self.as_nobody()).json()["first"]
        self.berth("wait", f"{first}-{first + AFTER - 1}", code=None)
        self.assertEqual(self.ends()[1:], [("succeeded", 0, None, 1)] * AFTER)
        self.assertEqual(self.berth("logs", str(first)).strip(), str(NOBODY))


if __name__ == "__main__":
    unittest.main()
