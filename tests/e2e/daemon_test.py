"""The daemon end to end: submit, wait, and what kill -9 of it does to jobs: nothing."""

import json
import os
import subprocess
import unittest

from daemon_case import BERTH, DEADLINE, DaemonCase


class Basics(DaemonCase):
    def test_it_starts_by_itself_and_runs_jobs(self):
        self.assertEqual(self.berth("submit", "echo on $BERTH_GPUS; exit 3"), "1\n")
        self.assertEqual(self.berth("submit", "--", "printf", "%s\n", "two  words"), "2\n")
        self.berth("wait", "1", code=1)
        self.berth("wait", "2")
        first, second = self.jobs()
        self.assertEqual((first["state"], first["exit_code"]), ("failed", 3))
        self.assertEqual((second["state"], second["exit_code"]), ("succeeded", 0))
        with open(first["log"], encoding="utf-8") as log:
            self.assertIn(log.read(), ("on 0\n", "on 1\n"))
        with open(second["log"], encoding="utf-8") as log:
            self.assertEqual(log.read(), "two  words\n")

    def test_a_file_of_jobs(self):
        lines = "".join(f"@name=n{i} exit {i}\n" for i in range(5))
        self.assertEqual(self.berth("submit", "--file", "-", input=lines), "1-5\n")
        self.berth("wait")
        self.assertEqual([(job["name"], job["exit_code"]) for job in self.jobs()],
                         [(f"n{i}", i) for i in range(5)])

    def test_a_document_of_jobs(self):
        document = {"defaults": {"project": "p"},
                    "jobs": [{"command": "exit 0"}, {"command": "exit 7", "name": "seven"}]}
        self.assertEqual(self.berth("submit", "--json", "-", input=json.dumps(document)), "1-2\n")
        self.berth("wait")
        self.assertEqual([(job["project"], job["name"], job["exit_code"]) for job in self.jobs()],
                         [("p", "", 0), ("p", "seven", 7)])
        document["jobs"][1]["gpus"] = "many"
        self.berth("submit", "--json", "-", input=json.dumps(document), code=2)
        self.assertEqual(len(self.jobs()), 2)

    def test_a_token_queues_once(self):
        self.assertEqual(self.berth("submit", "--token", "t", "true"), "1\n")
        self.assertEqual(self.berth("submit", "--token", "t", "true"), "1\n")
        self.assertEqual(self.berth("submit", "true"), "2\n")

    def test_hold_release_kill_and_why(self):
        os.mkfifo(self.folder + "/gate")
        for _ in range(2):
            self.berth("submit", "read x < gate")
        self.berth("submit", "--hold", "true")
        self.berth("submit", "true")
        self.assertIn("held", self.berth("why", "3"))
        self.assertIn("needs 1 GPU, and none has room now", self.berth("why", "4"))
        self.berth("hold", "4")
        self.berth("release", "3-4")
        self.berth("kill", "3")
        self.berth("kill", "1")
        self.berth("wait", "1", "3", code=1)
        self.berth("kill", "1", code=1)  # it has ended
        self.berth("wait", "4")
        self.berth("kill", "2")
        self.berth("wait", "2", code=1)
        self.assertEqual([job["state"] for job in self.jobs()],
                         ["cancelled", "cancelled", "cancelled", "succeeded"])

    def test_errors_say_what_to_do(self):
        self.berth("daemon", "status", code=3)  # nobody there, and asking for it starts nobody
        self.berth("submit", code=2)
        self.berth("submit", "--gpus", "9", "true", code=2)
        self.berth("show", "99", code=2)
        self.berth("kill", "99", code=2)

    def test_only_one_daemon_has_a_home(self):
        self.berth("daemon", "start")
        done = subprocess.run([BERTH, "daemon", "run"], env=self.env, text=True,
                              capture_output=True, timeout=DEADLINE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("runs already", done.stderr)


class Crashes(DaemonCase):
    def test_kill_9_loses_nothing_and_runs_nothing_twice(self):
        count = 40
        lines = "".join(f"echo start {i} >> ledger; sleep 0.05; echo end {i} >> ledger; exit {i}\n"
                        for i in range(count))
        self.berth("submit", "--file", "-", input=lines)
        for round_ in range(4):
            # Any moment will do: wherever it dies, the next one must know.
            self.berth("wait", str(3 + 5 * round_), code=1)
            self.kill_daemon()
            self.berth("wait", str(4 + 5 * round_), code=1)  # starts the next daemon
        self.berth("wait")
        self.assertEqual([(job["state"], job["exit_code"]) for job in self.jobs()],
                         [("failed" if i else "succeeded", i) for i in range(count)])
        ledger = self.read("ledger").split("\n")[:-1]
        self.assertEqual(sorted(ledger),
                         sorted(f"{what} {i}" for i in range(count) for what in ("start", "end")))


if __name__ == "__main__":
    unittest.main()
