"""What can be asked for when jobs are queued, and that it is done so."""

import json
import os
import time
import unittest

from life_case import LifeCase


class Times(LifeCase):
    def test_not_before(self):
        self.berth("submit", "--begin", "1s", "true")
        self.berth("wait", "1")
        job = self.show(1)
        self.assertGreaterEqual(job["started"], job["begin"])
        for when in ("23:59", "2099-01-01", "2099-01-01T08:00", "2099-01-01 08:00",
                     f"@{int(time.time()) + 3600}"):
            number = self.berth("submit", "--begin", when, "true").strip()
            self.assertEqual(self.state(number), "queued")
            self.assertRegex(self.why(number), "^not before its time, in ")
        self.berth("submit", "--begin", "2001-01-01", "true")
        self.berth("wait", "7")  # that time has come long ago
        for when in ("yesterday", "25:00", "2026-13-01", "-5"):
            self.assertIn("--begin", self.fails("submit", f"--begin={when}", "--", "true"))

    def test_a_warning_before_the_limit(self):
        self.make_gates("warned")
        self.berth("submit", "--timeout", "3s", "--signal", "USR1@2",
                   "trap 'echo $BERTH_END_TIME > warned; exit 3' USR1; sleep 1000 & wait")
        end = int(self.hear("warned"))
        self.berth("wait", "1", code=1)
        job = self.show(1)
        self.assertEqual((job["state"], job["exit_code"]), ("failed", 3))
        self.assertLess(job["ended"] - job["started"], 2.9)
        # It is told before the process is there, in whole seconds.
        self.assertLessEqual(end, job["started"] + 3)
        self.assertGreater(end, job["submitted"] + 3 - 1)
        for words, said in ((("--signal", "USR1@1"), "a warning needs a time limit"),
                            (("--signal", "USR1@5", "--timeout", "2s"), "must come later"),
                            (("--signal", "USR1", "--timeout", "2s"), "SIGNAL@TIME"),
                            (("--signal", "NO@1", "--timeout", "2s"), "there is no signal 'NO'")):
            self.assertIn(said, self.fails("submit", *words, "true"))

    def test_retries_by_cause_and_with_a_pause(self):
        self.berth("submit", "--retries", "2", "--backoff", "200ms", "exit 3")
        self.berth("submit", "--retries", "2", "--retry-on", "timeout", "exit 3")
        self.berth("submit", "--retries", "1", "--retry-on", "timeout", "--timeout", "50ms",
                   "sleep 60")
        self.berth("submit", "--retries", "1", "--retry-on", "fail", "--timeout", "50ms",
                   "sleep 60")
        self.berth("wait")
        self.assertEqual([(job["state"], job["attempt"]) for job in self.jobs()],
                         [("failed", 3), ("failed", 1), ("timed_out", 2), ("timed_out", 1)])
        one, two, three = self.show(1)["attempts"]
        self.assertGreaterEqual(two["started"] - one["ended"], 0.2)
        self.assertGreaterEqual(three["started"] - two["ended"], 0.4)
        self.assertIn("knows fail, timeout and lost",
                      self.fails("submit", "--retry-on", "rain", "true"))

    def test_between_two_attempts(self):
        self.berth("submit", "--retries", "3", "--backoff", "1h", "exit $BERTH_ATTEMPT")
        self.assertEqual(self.berth("logs", "-f", "--attempt", "1", "1"), "")
        self.assertRegex(self.why(1), "^it is tried again in (59m|1h)")
        job = self.jobs()[0]
        self.assertEqual((job["state"], job["attempt"], job["gpus"], job["pid"]),
                         ("queued", 1, [], None))
        self.kill_daemon()
        self.berth("daemon", "start")
        self.assertRegex(self.why(1), "^it is tried again in (59m|1h)")
        self.berth("edit", "1", "--begin", "0s", "--command", "true")
        self.berth("wait", "1")
        self.assertEqual(self.ends(), [("succeeded", 0, None, 2)])

    def test_requeue_when_the_machine_went_down(self):
        boot = self.path("boot")
        self.env["BERTH_BOOT_ID"] = boot
        with open(boot, "w", encoding="utf-8") as file:
            file.write("first\n")
        self.make_gates("up", "gate")
        self.berth("submit", "--requeue", "echo $BERTH_ATTEMPT $PPID $$ > up; cat gate")
        attempt, *down = map(int, self.hear("up").split())
        self.assertEqual(attempt, 1)
        for pid in (self.status()["pid"], *down):
            self.kill_process(pid)
        with open(boot, "w", encoding="utf-8") as file:
            file.write("second\n")
        self.berth("daemon", "start")
        self.assertEqual(self.hear("up").split()[0], "2")
        self.release("gate")
        self.berth("wait", "1")
        self.assertEqual([one["outcome"] for one in self.show(1)["attempts"]],
                         ["lost", "succeeded"])


class Arrays(LifeCase):
    def test_indices_and_patterns(self):
        self.assertEqual(self.berth("submit", "--array", "3-5", "--name", "n", "--project", "p",
                                    "-o", "%p-%n-%a-%j-%%", "echo $BERTH_ARRAY_INDEX"), "1-3\n")
        self.assertEqual(self.berth("submit", "--array", "2", "echo $BERTH_ARRAY_INDEX"), "4-5\n")
        self.berth("wait")
        for job in (1, 2, 3):
            self.assertEqual(self.read(f"p-n-{job + 2}-{job}-%"), f"{job + 2}\n")
        self.assertEqual(self.berth("logs", "4-5"), "4| 0\n5| 1\n")
        for wrong in ("0", "5-3", "x", "1,2"):
            self.assertIn("--array", self.fails("submit", "--array", wrong, "true"))

    def test_one_that_follows_a_whole_array(self):
        document = {"jobs": [{"command": "echo $BERTH_ARRAY_INDEX >> ledger", "array": 5,
                              "array_index": 1},
                             {"command": "echo end >> ledger", "follows": ["ok:0"]}]}
        self.assertEqual(self.berth("submit", "--json", "-", input=json.dumps(document)), "1-6\n")
        self.berth("wait")
        lines = self.read("ledger").split()
        self.assertEqual((sorted(lines[:-1]), lines[-1]), (["1", "2", "3", "4", "5"], "end"))


class Following(LifeCase):
    devices = "sim:2"

    def test_after_ok_any_and_not_ok(self):
        self.make_gates("gate")
        self.berth("submit", "read x < gate; exit 1")
        for after in ("ok:1", "any:1", "notok:1", "1"):
            self.berth("submit", "--after", after, "true")
        self.assertIn("waits for job 1 to end", self.why(2))
        self.assertEqual(self.show(2)["after"], ["ok:1"])
        self.release("gate")
        self.berth("wait")
        expected = ["failed", "cancelled", "succeeded", "succeeded", "cancelled"]
        self.assertEqual([job["state"] for job in self.jobs()], expected)
        self.assertIn("did not end as required", self.show(2)["reason"])
        self.assertIn("it has ended: cancelled, a job", self.why(2))
        # The same once it has ended.
        self.assertIn("it could never start: job 1 has already failed",
                      self.fails("submit", "--after", "ok:1", "true"))
        self.berth("submit", "--after", "any:1,notok:1", "true")
        self.berth("wait", "6")
        for wrong in ("x:1", "first", "0", "99"):
            self.assertTrue(self.fails("submit", "--after", wrong, "true"))
        self.assertEqual(len(self.jobs()), 6)

    def test_after_in_a_file(self):
        lines = ("@name=a echo a >> ledger\n@after=a echo b >> ledger\n"
                 "@after=ok:2 @name=c echo c >> ledger\n@after=any:a,c echo d >> ledger\n")
        self.assertEqual(self.berth("submit", "--file", "-", input=lines), "1-4\n")
        self.berth("wait")
        self.assertEqual(self.read("ledger"), "a\nb\nc\nd\n")
        for lines, said in (("true\n@after=zz true\n", "line 2: there is no earlier job 'zz'"),
                            ("true\n@after=2 true\n", "line 2: there is no earlier job '2'"),
                            ("true\n@gpus=x true\n", "line 2 gpus must be"),
                            ("true\n@gpu=1 true\n", "line 2 unknown option @gpu"),
                            ("\n# nothing\n", "standard input holds no jobs")):
            self.assertIn(said, self.fails("submit", "--file", "-", input=lines))
        self.assertEqual(len(self.jobs()), 4)


class Surroundings(LifeCase):
    devices = "sim:1"

    def test_captured_when_it_is_queued(self):
        os.mkdir(self.path("there"))
        self.make_gates("gate")
        self.berth("submit", "cat gate")
        self.env["SEEN"] = "then"
        self.berth("submit", "--label", "k=v", "--project", "p", "--name", "n", "-o", "out",
                   "echo $SEEN $BERTH_PROJECT $BERTH_NAME $BERTH_JOB_ID $BERTH_ATTEMPT"
                   " ${BERTH_ARRAY_INDEX-none} ${BERTH_END_TIME-none}; pwd")
        self.env["SEEN"] = "now"
        self.assertFalse(os.path.exists(self.path("out")))  # opened when it starts
        self.kill_daemon()
        self.berth("daemon", "start")
        self.release("gate")
        self.berth("wait", "2")
        self.assertEqual(self.read("out"), f"then p n 2 1 none none\n{self.folder}\n")
        self.assertEqual(self.show(2)["labels"], {"k": "v"})

    def test_a_command_that_could_not_be_passed_on_as_it_is(self):
        self.assertIn("the command is not UTF-8 text", self.fails("submit", b"echo \xff"))
        self.assertIn("the output path is not", self.fails("submit", "-o", b"\xff", "true"))

    def test_one_file_for_two_submissions(self):
        self.berth("submit", "--hold", "-o", "out", "echo first")
        told = self.fails("submit", "-o", self.path("out"), "echo second")
        self.assertIn("job 1, which has not ended, already writes to", told)
        self.assertIn("submit it with --after 1", told)
        self.berth("submit", "-o", "out", "--after", "1", "true")
        self.kill_daemon()
        self.assertIn("job 2, which has not ended", self.fails("submit", "-o", "out", "true"))
        self.berth("release", "1")
        self.berth("wait", "1-2")
        self.berth("submit", "--wait", "-o", "out", "echo third")
        self.assertIn("third", self.read("out"))

    def test_a_place_that_is_gone(self):
        os.mkdir(self.path("there"))
        document = {"jobs": [{"command": "true", "directory": self.path("there")},
                             {"command": "true", "output": "/dev/null/out"}]}
        self.berth("daemon", "start")
        self.berth("daemon", "pause")
        self.berth("submit", "--json", "-", input=json.dumps(document))
        os.rmdir(self.path("there"))
        self.berth("daemon", "resume")
        self.berth("wait", "1-2", code=1)
        self.assertEqual([job["reason"] for job in self.jobs()],
                         ["cannot enter its directory: No such file or directory",
                          "cannot open its output: Not a directory"])

    def test_a_sweep(self):
        self.assertEqual(self.berth("sweep", "echo {lr} {bs}", "-p", "lr", "0.1", "0.01", "-p",
                                    "bs", "32", "64", "--submit", "--name", "S", "--array", "2"),
                         "1-8\n")
        self.berth("submit", "true")
        self.berth("wait", "sweep=S")
        jobs = json.loads(self.berth("queue", "--json", "--all", "sweep=S"))["jobs"]
        self.assertEqual([(job["parameters"], job["array_index"]) for job in jobs],
                         [({"lr": lr, "bs": bs}, index) for lr in ("0.1", "0.01")
                          for bs in ("32", "64") for index in (0, 1)])
        self.assertIn("parameters     bs=32, lr=0.1\n", self.berth("show", "1"))

    def test_a_sweep_without_a_name_gets_one(self):
        self.berth("sweep", "python3 -u src/train.py {x}", "-p", "x", "1", "2", "--submit", "--hold")
        names = {job["sweep"] for job in self.jobs()}
        self.assertEqual(len(names), 1)
        self.assertRegex(names.pop(), r"^train-\d{4}-\d{6}$")


class Documents(LifeCase):
    def test_what_is_wrong_is_named_and_nothing_is_queued(self):
        good = {"command": "true"}
        for document, said in (("{", "this is not a JSON object"),
                               ([], "this is not a JSON object"),
                               ({}, "jobs must be a list"),
                               ({"jobs": []}, "jobs must be a list"),
                               ({"jobs": ["x"]}, "job 1: it must be an object"),
                               ({"jobs": [good, {}]}, "job 2: it has no command"),
                               ({"jobs": [{"command": 5}]}, "job 1: command must be a text"),
                               ({"jobs": [{"command": "a\0b"}]}, "job 1: command must be a text"),
                               ({"jobs": [good, {**good, "gpus": "x"}]}, "job 2: gpus must be"),
                               ({"jobs": [good, {**good, "gpus": 99}]}, "job 2: needs 99 GPUs"),
                               ({"jobs": [good, {**good, "retrys": 1}]},
                                "job 2: there is no field 'retrys': is it retries?"),
                               ({"jobs": [{**good, "timeout_s": -1}]}, "job 1: timeout_s must be"),
                               ({"jobs": [{**good, "labels": {"a": 1}}]}, "job 1: labels must be"),
                               ({"jobs": [{**good, "array": 0}]}, "job 1: array must be"),
                               ({"jobs": [{**good, "after": ["ok:99"]}]}, "there is no job 99"),
                               ({"jobs": [good, {**good, "follows": ["ok:1"]}]},
                                "job 2: follows must be"),
                               ({"jobs": [good, {**good, "directory": "here"}]},
                                "job 2: directory must be an absolute path"),
                               ({"jobs": [{**good, "environment": ["A=1"]}]},
                                "job 1: environment is the same for all jobs"),
                               ({"defaults": {"gpus": []}, "jobs": [good]}, "defaults: gpus must")):
            with self.subTest(document):
                text = document if isinstance(document, str) else json.dumps(document)
                self.assertIn(said, self.fails("submit", "--json", "-", input=text))
        self.assertEqual(self.jobs(), [])

    def test_ten_thousand(self):
        document = {"defaults": {"gpus": 0, "held": True},
                    "jobs": [{"command": "true", "name": f"n{i}"} for i in range(10_000)]}
        with open(self.path("jobs.json"), "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.assertEqual(self.berth("submit", "--json", "jobs.json", "--token", "t"), "1-10000\n")
        self.assertEqual(self.berth("submit", "--json", "jobs.json", "--token", "t"), "1-10000\n")
        self.assertEqual(self.show(10_000)["name"], "n9999")


class Order(LifeCase):
    def test_the_users_device_order_stays(self):
        for order, seen in (("FASTEST_FIRST", "FASTEST_FIRST"), (None, "PCI_BUS_ID")):
            self.env.pop("CUDA_DEVICE_ORDER", None)
            if order:
                self.env["CUDA_DEVICE_ORDER"] = order
            number = self.berth("submit", "echo $CUDA_DEVICE_ORDER").strip()
            self.berth("wait", number)
            self.assertEqual(self.berth("logs", number).strip(), seen)

    def test_the_user_hears_of_another_order(self):
        # A library that tells no UUIDs: its numbers count in the order of the bus.
        self.env.update(BERTH_SIM_STATE=self.path("devices"), BERTH_LOCKS=self.path("locks"))
        self.berth("gpus", "--gpus", "sim:2")
        self.env.update(LD_LIBRARY_PATH=os.environ["BERTH_BUILD_DIR"] + "/fake_nvml_bare",
                        CUDA_DEVICE_ORDER="FASTEST_FIRST")
        self.devices = "auto"
        self.start_daemon()
        told = self.try_berth("submit", "echo $CUDA_DEVICE_ORDER")
        self.assertEqual((told.returncode, told.stdout), (0, "1\n"), told.stderr)
        self.assertIn("jobs get CUDA_DEVICE_ORDER=PCI_BUS_ID, not FASTEST_FIRST", told.stderr)
        self.berth("wait", "1")
        self.assertEqual(self.berth("logs", "1").strip(), "PCI_BUS_ID")
        self.assertEqual(self.try_berth("submit", "--gpus", "0", "true").stderr, "")


if __name__ == "__main__":
    unittest.main()
