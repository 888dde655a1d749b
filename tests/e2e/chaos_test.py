"""`berth selftest --chaos`: the kill -9 storm on the real program, and how it ends itself."""

import json
import os
import select
import signal
import subprocess
import unittest

from daemon_case import BERTH, DEADLINE, DaemonCase


class Chaos(DaemonCase):
    def setUp(self):
        super().setUp()
        self.env["TMPDIR"] = self.folder

    def test_a_storm_loses_nothing(self):
        out = self.berth("selftest", "--chaos", "--rounds", "2", "--jobs", "100", "--kills", "5",
                         "--json")
        total = json.loads(out)["total"]
        self.assertEqual((total["jobs"], total["kills"], total["findings"]), (200, 10, []))
        self.assertGreater(total["attempts"], 100)
        self.assertGreater(total["forced"], 0)
        self.assertLessEqual(total["lost_with_shim"], total["shim_kills"])
        self.assertEqual(os.listdir(self.folder), [], "it tidies up")

    def test_the_table(self):
        out = self.berth("selftest", "--chaos", "--rounds", "1", "--jobs", "10", "--kills", "1",
                         "--seed", "5")
        self.assertRegex(out, "nothing (else )?was lost, run twice or reported wrongly")
        self.assertEqual(out.split("\n")[0].split()[:4], ["ROUND", "JOBS", "ATTEMPTS", "KILLS"])
        self.assertEqual(out.split("\n")[1].split()[:2] + out.split("\n")[1].split()[3:4],
                         ["1", "10", "1"])

    def test_a_finding_is_told_and_everything_kept(self):
        # A job of which only the shim knew how it ended.
        self.env["BERTH_FAILPOINTS"] = "shim.after_job=kill"
        done = self.try_berth("selftest", "--chaos", "--rounds", "1", "--jobs", "4", "--kills", "1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("is called lost", done.stdout)
        kept = done.stderr.split()[-1]
        self.assertTrue(os.path.exists(kept + "/1/ledger"), done.stderr)
        self.assertEqual(self.marked(), [])

    def test_an_interrupt_ends_everything(self):
        ours, theirs = os.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([BERTH, "selftest", "--chaos"], stderr=theirs,
                                   env=dict(self.env, TERM="xterm"), stdout=subprocess.PIPE)
        self.addCleanup(self.end_process, process)
        os.close(theirs)
        shown = b""
        while b"jobs queued" not in shown:
            self.assertTrue(select.select([ours], [], [], DEADLINE)[0], shown)
            shown += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(DEADLINE), 130)
        self.assertEqual(self.marked(), [])
        self.assertEqual(os.listdir(self.folder), [])

    def test_usage(self):
        self.berth("selftest", code=2)
        self.berth("selftest", "--chaos", "--jobs", "0", code=2)


if __name__ == "__main__":
    unittest.main()
