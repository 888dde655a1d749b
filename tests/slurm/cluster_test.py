"""`berth cluster` on real Slurm: a head and two more boxes, each with a network, host name, processes
and files of its own (boxes.py). Needs root and Debian's Slurm; says so and is skipped without.
"""

import json
import os
import re
import shutil
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from boxes import Switch, in_private_world  # noqa: E402

BERTH = "/mnt/berth"  # where every box sees it
GPUS = {"head": "sim:2", "n2": "sim:2", "n3": "sim:1"}


class Lab:
    """Three boxes; the head's cluster, and how long it took from the first command to the first job."""

    def __init__(self):
        self.switch = Switch()
        shutil.copy(os.environ["BERTH"], BERTH)
        self.head, self.n2, self.n3 = (self.switch.box(name) for name in GPUS)
        self.commands = 0
        begin = time.monotonic()
        told = self.berth(self.head, "init", "--yes", "--gpus", GPUS["head"])
        self.token = re.search(r"key: ([0-9a-f-]{39})$", told, re.MULTILINE).group(1)
        self.ready = time.monotonic() - begin
        for box in (self.n2, self.n3):
            self.join(box)
        self.first_job = self.head.check("srun", "-N3", "--gpus-per-node=1", "--label", "printenv",
                                         "SLURMD_NODENAME", "CUDA_VISIBLE_DEVICES")
        self.seconds = time.monotonic() - begin

    def berth(self, box, *words, **more):
        self.commands += 1
        return box.check(BERTH, "cluster", *words, **more)

    def join(self, box):
        return self.berth(box, "join", self.head.address, "--yes", "--gpus", GPUS[box.name],
                          input=self.token + "\n")


class ClusterTest(unittest.TestCase):
    maxDiff = None
    lab = None

    @classmethod
    def setUpClass(cls):
        if ClusterTest.lab is None:
            ClusterTest.lab = Lab()

    def status(self, box):
        return json.loads(box.check(BERTH, "cluster", "status", "--json"))


class SetUp(ClusterTest):
    def test_three_commands_to_the_first_job_on_all_gpus(self):
        lab = self.lab
        print(f"first GPU job on three boxes after {lab.commands} commands and {lab.seconds:.1f} s; "
              f"init took {lab.ready:.1f} s", file=sys.stderr)
        self.assertLessEqual(lab.commands, 3)
        self.assertEqual(sorted(lab.first_job.split("\n")),
                         ["", "0: 0", "0: head", "1: 0", "1: n2", "2: 0", "2: n3"])

    def test_status_tells_of_nodes_and_gpus(self):
        for box in (self.lab.head, self.lab.n3):
            told = self.status(box)
            self.assertEqual((told["cluster"], told["head"]), ("lab", "head"))
            self.assertEqual([(node["name"], node["gpus"], node["well"], node["address"])
                              for node in told["nodes"]],
                             [("head", 2, True, "10.77.0.1"), ("n2", 2, True, "10.77.0.2"),
                              ("n3", 1, True, "10.77.0.3")])
            self.assertEqual([(one["name"], one["default"]) for one in told["partitions"]],
                             [("gpu", True)])

    def test_every_gpu_of_every_box_is_given_once(self):
        job = self.lab.head.check("srun", "-n5", "--gpus-per-task=1", "--mem-per-cpu=10", "--overcommit",
                                  "printenv", "SLURMD_NODENAME")
        self.assertEqual(sorted(job.split()), ["head", "head", "n2", "n2", "n3"])

    def test_a_box_gets_nothing_with_a_wrong_token(self):
        fourth = self.lab.switch.box("n4")
        join = (BERTH, "cluster", "join", self.lab.head.address, "--yes", "--gpus", "sim:1")
        done = fourth.run(*join, input="0000-" * 7 + "0000\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not know this token", done.stderr)
        self.assertEqual(fourth.check("ls", "/etc/munge"), "")
        done = self.lab.n2.run(*join, input=self.lab.token)
        self.assertIn("this box is in a cluster already", done.stderr)
        fourth.end()

    def test_the_nodes_outlive_a_restart_of_the_head(self):
        head = self.lab.head
        head.check("sh", "-c", "kill $(cat /run/slurmctld.pid)")
        deadline = time.monotonic() + 20
        while head.run("pidof", "slurmctld").returncode == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        head.check("slurmctld")
        self.assertEqual([node["name"] for node in self.status(head)["nodes"]], ["head", "n2", "n3"])
        self.assertEqual(head.check("srun", "-w", "n3", "hostname"), "n3\n")

    def test_files_are_not_written_over_unasked(self):
        done = self.lab.head.run(BERTH, "cluster", "init", "--yes", "--gpus", "sim:1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/etc/slurm/slurm.conf is there already", done.stderr)


if __name__ == "__main__":
    WHY = in_private_world()
    if WHY:
        print(f"skipped: {WHY}")
        sys.exit(77)
    unittest.main()
