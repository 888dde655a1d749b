"""--oom-risk: how often a job may use more than its learned claim."""

import json
import unittest

from life_case import LifeCase
from memory_run_test import MemoryCase
from run_case import GIB

# Between 8 and 10 GiB: how often more than 12 GiB are used is a matter of opinion.
PEAKS = [8.0, 9.6, 8.4, 10.0, 9.1, 8.8, 9.9, 8.1, 9.4, 8.6, 9.0, 9.7]


def write_peaks(path, project, command, *numbers):
    """As if jobs of this command had run; `command` has # for each number."""
    with open(path, "w", encoding="utf-8") as file:
        for peak in PEAKS:
            file.write(f"{int(peak * GIB)}\t{','.join(map(str, numbers))}\t{project}\\n{command}\n")


class InARun(MemoryCase):
    def most_side_by_side(self, *words):
        return self.most_at_once(self.run_events(["sleep 0.3"] * 2, *words, gpus="sim:1x24GiB"))

    def test_a_higher_risk_packs_more(self):
        write_peaks(self.path("peaks"), "", "sleep #", 0.3)
        self.assertEqual(self.most_side_by_side("--oom-risk", "40%"), 2)
        self.assertEqual(self.most_side_by_side("--oom-risk", "0.01%"), 1)

    def test_risks_that_make_no_sense_are_refused(self):
        for risk, words in (("0", "--oom-risk must be between 0.01% and 50%"),
                            ("90%", "--oom-risk must be between 0.01% and 50%"),
                            ("nan", "--oom-risk"), ("x", "--oom-risk")):
            with self.subTest(risk):
                self.assertIn(words, self.run_jobs("true\n", "--oom-risk", risk, code=2).stderr)


class InTheDaemon(LifeCase):
    devices = "sim:1x24GiB"

    def claim(self, job):
        return self.show(job)["mem"]

    def restart(self, *words):
        self.kill_daemon()
        self.berth("daemon", "start", *words)

    def test_the_risk_outlives_a_restart_and_claims_follow_it(self):
        self.berth("daemon", "start", "--oom-risk", "40%")
        self.berth("daemon", "stop")
        write_peaks(self.home + "/peaks", "", "sleep #", 0.01)
        self.berth("daemon", "start")
        self.assertEqual(self.status()["oom_risk"], 0.4)
        self.assertIn("40 %", self.berth("daemon", "status"))
        self.berth("daemon", "pause")
        self.berth("submit", "sleep 0.01")
        bold = self.claim(1)
        self.restart()
        self.assertEqual((self.status()["oom_risk"], self.claim(1)), (0.4, bold))
        # Jobs that wait follow another risk, as do those that come.
        self.restart("--oom-risk", "0.0001")
        self.assertEqual(self.status()["oom_risk"], 0.0001)
        self.eventually(lambda: self.claim(1) > bold)
        self.berth("submit", "sleep 0.01")
        self.assertEqual(self.claim(2), self.claim(1))
        self.assertGreater(self.claim(1), 12 * GIB)
        self.berth("daemon", "resume")
        self.berth("wait")
        self.berth("daemon", "stop")
        # The change is an input like others: decided again, everything is the same.
        replay = json.loads(self.berth("sim", "--journal", "--json"))
        self.assertEqual(replay["differences"], [])
        self.assertEqual(len(replay["starts"]), 2)


if __name__ == "__main__":
    unittest.main()
