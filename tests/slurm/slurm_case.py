"""What the tests on a real Slurm cluster share: a cluster of three nodes on this machine."""

import os
import random
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))

from daemon_case import DEADLINE, DaemonCase  # noqa: E402

NODES = ("n1", "n2", "n3")
GPUS = 4


class SlurmCase(DaemonCase):
    """Each test has a cluster and a daemon of its own."""

    devices = "sim:1"
    cluster_options = {}

    def setUp(self):
        super().setUp()
        # Its sockets' names must be short.
        self.cluster = "/tmp/bs" + self.folder.rsplit("-", 1)[1]
        self.cluster_env = dict(os.environ, BERTH_SLURM_DIR=self.cluster, **self.cluster_options)
        self.addCleanup(self.run_fixture, "down", "--purge")
        self.up_somewhere()
        self.env["SLURM_CONF"] = self.cluster + "/slurm.conf"
        self.start_daemon()

    def run_fixture(self, name, *words):
        done = subprocess.run([os.path.join(HERE, name), *words], env=self.cluster_env, text=True,
                              capture_output=True, timeout=180, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def up_somewhere(self):
        """On ports of its own: other clusters may start at the same time."""
        for port in random.sample(range(27000, 31900, 16), 5):
            self.cluster_env["BERTH_SLURM_PORT"] = str(port)
            done = subprocess.run([os.path.join(HERE, "up")], env=self.cluster_env, text=True,
                                  capture_output=True, timeout=180, check=False)
            if done.returncode == 0:
                return
            self.run_fixture("down", "--purge")
        self.fail(done.stderr)

    def up(self):
        """Starts the cluster, or what of it has died."""
        self.run_fixture("up")

    def slurm(self, *words):
        return subprocess.run(words, env=dict(self.env), text=True, capture_output=True, timeout=60,
                              check=False).stdout

    def kill_part(self, name):
        """kill -9 of slurmctld or of slurmd-n1."""
        with open(f"{self.cluster}/run/{name}.pid", encoding="utf-8") as file:
            pid = int(file.read())
        try:
            process = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        signal.pidfd_send_signal(process, signal.SIGKILL)
        self.gone(process)
        os.close(process)

    def until(self, what, holds, deadline=2 * DEADLINE):
        """Waits until `holds` does."""
        end = time.monotonic() + deadline
        while not (value := holds()):
            self.assertLess(time.monotonic(), end, f"{what} did not come")
            time.sleep(0.1)
        return value

    def submit(self, *words):
        return int(self.berth("submit", "--on", "slurm", *words).split("-")[0])

    def job(self, number):
        return next(job for job in self.jobs() if job["id"] == number)

    def await_state(self, number, *states, deadline=2 * DEADLINE):
        return self.until(f"job {number} {states}",
                          lambda: (j := self.job(number))["state"] in states and j, deadline)

    def ledger(self, name="ledger"):
        """The lines that jobs wrote themselves, as lists of words."""
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return [line.split() for line in file]
        except FileNotFoundError:
            return []

    def heal(self):
        """What an administrator does after crashes of slurmctld: nodes that it drained, and idle
        nodes whose GPUs it takes for used, are put back to work."""
        for line in self.slurm("scontrol", "-o", "-d", "show", "nodes").splitlines():
            node = re.search(r"NodeName=(\S+)", line)[1]
            drained = "+DRAIN" in line
            leaks = "State=IDLE " in line and not re.search(r"GresUsed=gpu:\w+:0\(", line)
            if drained or leaks:
                if leaks:
                    self.slurm("scontrol", "update", f"NodeName={node}", "State=DOWN",
                               "Reason=test")
                self.slurm("scontrol", "update", f"NodeName={node}", "State=RESUME")

    def start_now(self):
        """Requeued jobs wait for two minutes. Slurm says so when the copy before has ended, which may
        be after it calls them pending: so ask again until they start."""
        for number in self.slurm("squeue", "-h", "-t", "PD", "-o", "%A").split():
            self.slurm("scontrol", "update", "JobId=" + number, "StartTime=now")

    def wait_all(self, deadline=300):
        open_states = ("queued", "starting", "running", "held")
        self.until("the end of all jobs", lambda: self.heal() or all(
            job["state"] not in open_states for job in self.jobs()), deadline)
