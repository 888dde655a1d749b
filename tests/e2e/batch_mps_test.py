"""berth batch through MPS, with the stand-in for NVIDIA's control daemon."""

import os
import unittest

from batch_case import BatchCase
from mps_case import MpsCase


class Mps(MpsCase, BatchCase):
    def test_tasks_share_a_device_through_it(self):
        os.mkdir(self.path("fakes"))
        self.use_fakes(self.path("fakes"))
        self.script("train.sh", mem=5,
                    extra='echo "$CUDA_MPS_ACTIVE_THREAD_PERCENTAGE $CUDA_MPS_PIPE_DIRECTORY" '
                          '>> "$LEDGER.mps"')
        self.table([("train.sh", 5, 0)] * 3)
        self.batch("--mps", "--thread_percentage", "30")
        lines = self.read("ledger.mps").splitlines()
        self.assertEqual(len(lines), 4)  # a profile and three tasks
        self.assertTrue(all(line.startswith("30 /") for line in lines), lines)
        self.assertEqual(len(set(lines)), 1)
        for pid in self.journal("start"):
            self.eventually(lambda pid=pid: not self.lives(pid))


if __name__ == "__main__":
    unittest.main()
