"""Faults in a real cluster of three boxes (boxes.py), each named by `berth cluster doctor`; and a box
that leaves. Needs root and Debian's Slurm; says so and is skipped without.
"""

import contextlib
import glob
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from boxes import in_private_world  # noqa: E402
from cluster_test import BERTH, ClusterTest  # noqa: E402

FAKETIME = "".join(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")[:1])


def until(true, what, seconds=60):
    """Waits for what another process is about to do."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)


class Faults(ClusterTest):
    def setUp(self):
        self.head, self.n2, self.n3 = self.lab.head, self.lab.n2, self.lab.n3

    def doctor(self, box, *words):
        done = box.run(BERTH, "cluster", "doctor", "--json", *words, timeout=120)
        return json.loads(done.stdout)["findings"]

    def assert_named(self, box, fault, where, *words, text=""):
        """The first finding is the cause, and says what to do."""
        found = self.doctor(box, *words)
        self.assertTrue(found, "nothing was found")
        self.assertEqual((found[0]["fault"], found[0]["where"]), (fault, where), found)
        self.assertIn(text, found[0]["what"])
        self.assertTrue(found[0]["remedy"])

    def well(self):
        return all(node["well"] for node in self.status(self.head)["nodes"])

    @contextlib.contextmanager
    def fault(self, box, inject, mend):
        """Injects a fault, and takes it back whatever happens; the cluster is well again then."""
        box.check("sh", "-ec", inject)
        try:
            yield
        finally:
            box.run("sh", "-c", mend)
            for one in (self.head, self.n2, self.n3):
                one.run("sh", "-c", "for log in /var/log/slurm/*.log; do : >$log; done")
            self.restart_slurmd_where_needed()
            until(self.well, "the cluster is well again")

    def restart_slurmd_where_needed(self):
        """A node that did not answer is asked again only after minutes."""
        until(lambda: self.head.run("sinfo").returncode == 0, "slurmctld answers")
        for node in self.status(self.head)["nodes"]:
            if not node["well"]:
                box = next(box for box in (self.head, self.n2, self.n3) if box.name == node["name"])
                box.run("sh", "-c", self.STOP_SLURMD + self.START_SLURMD)

    RESTART_MUNGED = "munged --stop; runuser -u munge -- munged; "
    STOP_SLURMD = "kill $(cat /run/slurmd.pid); while pidof slurmd; do sleep 0.1; done; "
    START_SLURMD = ". /etc/default/slurmd; slurmd $SLURMD_OPTIONS; "

    def test_a_healthy_cluster_has_no_findings(self):
        self.assertEqual(self.doctor(self.head), [])
        self.assertEqual(self.doctor(self.n2), [])

    def test_munged_is_down(self):
        with self.fault(self.n3, "munged --stop", "runuser -u munge -- munged"):
            self.assert_named(self.n3, "munged-down", "n3")

    def test_slurmd_is_down(self):
        with self.fault(self.n3, self.STOP_SLURMD, self.START_SLURMD):
            self.assert_named(self.n3, "slurmd-down", "n3")
            self.assert_named(self.head, "slurmd-down", "n3", "--no-jobs")

    def test_slurmctld_is_down(self):
        with self.fault(self.head, "kill $(cat /run/slurmctld.pid); while pidof slurmctld; do sleep 0.1; done",
                        "slurmctld"):
            self.assert_named(self.head, "slurmctld-down", "head")
            self.assert_named(self.n2, "slurmctld-down", "head")

    def test_the_munge_key_can_be_read_by_others(self):
        with self.fault(self.n3, "chmod 644 /etc/munge/munge.key", "chmod 400 /etc/munge/munge.key"):
            self.assert_named(self.n3, "munge-key-mode", "n3", text="0644")

    def test_the_munge_keys_differ(self):
        inject = ("cp -p /etc/munge/munge.key /etc/munge/kept; chmod 600 /etc/munge/munge.key; "
                  "head -c 128 /dev/urandom >/etc/munge/munge.key; chmod 400 /etc/munge/munge.key; "
                  + self.RESTART_MUNGED)
        with self.fault(self.n3, inject, "mv /etc/munge/kept /etc/munge/munge.key; " + self.RESTART_MUNGED):
            self.assertIn(self.doctor(self.n3)[0]["fault"], ("refused-by-head", "munge-key-differs"))
            self.assert_named(self.head, "munge-key-differs", "n3", "--no-jobs")

    @unittest.skipUnless(FAKETIME, "faketime is not installed: make test-cluster installs it")
    def test_clocks_are_apart(self):
        # The clock that counts is the one munged sees.
        inject = ("munged --stop; runuser -u munge -- env DONT_FAKE_MONOTONIC=1 FAKETIME=+3600s "
                  f"LD_PRELOAD={FAKETIME} sh -c 'exec munged >/dev/null 2>&1'")
        with self.fault(self.n3, inject, self.RESTART_MUNGED):
            self.n3.run("sinfo")
            self.assert_named(self.head, "clocks-apart", "n3", "--no-jobs", text="3600 s ahead")

    def test_a_name_does_not_resolve(self):
        with self.fault(self.n2, "cp /etc/hosts /tmp/hosts; echo 127.0.0.1 localhost >/etc/hosts",
                        "cat /tmp/hosts >/etc/hosts"):
            self.assert_named(self.n2, "name-unresolved", "n2", "--no-jobs", text="the name n2")

    def test_a_port_is_closed(self):
        with self.fault(self.head, "ip route add prohibit 10.77.0.3/32", "ip route del prohibit 10.77.0.3/32"):
            self.assert_named(self.head, "port-closed", "n3", "--no-jobs")

    def test_a_node_is_drained(self):
        with self.fault(self.head, "scontrol update NodeName=n2 State=DRAIN Reason='new fan'",
                        "scontrol update NodeName=n2 State=RESUME"):
            self.assert_named(self.head, "node-drained", "n2", text="new fan")
            self.assert_named(self.n3, "node-drained", "n2", text="new fan")

    def test_a_gpu_is_gone(self):
        gpu = "/var/lib/slurm/simulated-gpus/nvidia1"
        with self.fault(self.n2, f"rm {gpu}", f"ln -s /dev/null {gpu}"):
            self.assert_named(self.n2, "gpu-files", "n2", text=gpu)

    def test_users_have_other_numbers(self):
        add = "echo ann:x:{}:100::/home:/bin/sh >>/etc/passwd"
        with self.fault(self.head, add.format(5001), "sed -i /^ann:/d /etc/passwd"):
            with self.fault(self.n2, add.format(5002), "sed -i /^ann:/d /etc/passwd"):
                with self.fault(self.n3, add.format(5001), "sed -i /^ann:/d /etc/passwd"):
                    self.assert_named(self.head, "uids-differ", "n2", text="5001 on head and 5002 on n2")

    def test_a_folder_is_not_shared(self):
        with self.fault(self.n3, "mount -t tmpfs other /home", "umount /home"):
            # slurmd has its mounts from before, and shares this one: they are one box.
            self.assert_named(self.head, "no-shared-folder", "n3", text="/home on n3")

    def test_there_are_no_cgroups(self):
        with self.fault(self.n2, "mount -t tmpfs none /sys/fs/cgroup", "umount /sys/fs/cgroup"):
            self.assert_named(self.n2, "no-cgroups", "n2")

    def test_slurm_conf_cannot_be_read(self):
        with self.fault(self.head, "cp /etc/slurm/slurm.conf /tmp/conf; echo NodeNam=n9 >>/etc/slurm/slurm.conf",
                        "cat /tmp/conf >/etc/slurm/slurm.conf"):
            self.assert_named(self.head, "slurm-conf-error", "head", text="NodeNam")

    def test_a_stray_slurm_conf(self):
        with self.fault(self.n2, "sed s/ClusterName=.*/ClusterName=old/ /run/slurm/conf/slurm.conf "
                        ">/etc/slurm/slurm.conf", "rm /etc/slurm/slurm.conf"):
            self.assert_named(self.n2, "slurm-conf-differs", "n2")


class ZLeave(ClusterTest):  # last: a box fewer
    def test_a_box_leaves_and_comes_back(self):
        head, n3 = self.lab.head, self.lab.n3
        done = head.run(BERTH, "cluster", "leave", "--yes")
        self.assertIn("first type berth cluster leave there", done.stderr)
        key = head.check("sha256sum", "/etc/munge/munge.key").split()[0]
        head.check("sbatch", "-w", "n3", "--wrap", "sleep 1000", "-o", "/dev/null")
        until(lambda: "n3" in head.check("squeue", "-h", "-t", "R", "-o", "%N"), "the job runs")
        n3.check(BERTH, "cluster", "leave", "--yes", "--now")
        self.assertEqual([node["name"] for node in self.status(head)["nodes"]], ["head", "n2"])
        self.assertEqual(n3.run("pidof", "slurmd").returncode, 1)
        self.assertNotEqual(n3.check("sha256sum", "/etc/munge/munge.key").split()[0], key)
        self.assertNotIn("SLURMD_OPTIONS=\"--conf", n3.check("cat", "/etc/default/slurmd"))
        self.lab.join(n3)
        self.assertEqual(head.check("srun", "-w", "n3", "--gpus=1", "hostname"), "n3\n")
        head.check(BERTH, "cluster", "invite", "--end")
        self.assertEqual(head.run("ls", "/run/berth-invitation").returncode, 2)


if __name__ == "__main__":
    WHY = in_private_world()
    if WHY:
        print(f"skipped: {WHY}")
        sys.exit(77)
    unittest.main()
